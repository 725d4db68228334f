/** The hub seam: what a model repository holds, and the bytes of one file. */

export interface HubFile {
  /** Inside the repository, with `/`; never absolute, never above it. */
  readonly path: string
  readonly sizeBytes: number
  readonly digest: HubDigest
}

/** Large files (LFS) are known by the SHA-256 of their bytes, small ones by git's SHA-1 of `blob SIZE\0` and their bytes. */
export interface HubDigest {
  readonly kind: 'sha256' | 'git-sha1'
  readonly hex: string
}

export interface HubListing {
  /** 40 hex digits: what the branch or tag stood for. */
  readonly commit: string
  readonly files: readonly HubFile[]
}

export interface HubStream {
  /** Position of the first byte: where it was asked for, or 0 from a server that does not know ranges. */
  readonly start: number
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface ModelHub {
  /** For messages. */
  readonly endpoint: string
  /**
   * @param revision branch, tag or commit
   * @throws endpoint-refused, endpoint-unreachable, download-mismatch
   */
  list(model: string, revision: string, signal: AbortSignal): Promise<HubListing>
  /**
   * The bytes of a file from a position on.
   * @throws endpoint-refused, endpoint-unreachable
   */
  open(
    model: string,
    file: { readonly commit: string; readonly path: string; readonly start: number },
    signal: AbortSignal,
  ): Promise<HubStream>
}
