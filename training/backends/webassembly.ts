/**
 * The part of the WebAssembly API that we use. TypeScript's types for it live in lib.dom, which has no place in Node code.
 */
interface WebAssemblyApi {
  readonly Memory: new (size: {
    readonly initial: number
    readonly maximum: number
  }) => {
    readonly buffer: ArrayBuffer
  }
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> }
}

export const wasm: WebAssemblyApi = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
