/**
 * The child's side of a benchmark arm (models/frozen-lm/bench-protocol.ts), for runtimes that are not ours: opens the
 * arm it is told to, then runs it whenever asked, and reports what each run cost.
 */

/**
 * @param {(spec: object) => Promise<{ run: (only?: number) => Promise<{ tokens: number, hidden: Float32Array[] }>, version: string }>} openArm
 */
export function serveArm(openArm) {
  let arm = null
  process.on('message', async (message) => {
    try {
      if (message.kind === 'open') {
        arm = await openArm(message.spec)
        const loadedBytes = process.memoryUsage.rss()
        // First runs pay for allocations and page faults that later ones do not: one view is enough for that.
        await arm.run(1)
        process.send({ kind: 'opened', loadedBytes, loadMs: null, stateBytes: 0, version: arm.version })
      } else if (message.kind === 'run') {
        const cpuStart = process.cpuUsage()
        const start = performance.now()
        const { tokens, hidden } = await arm.run()
        const wallMs = performance.now() - start
        const { user, system } = process.cpuUsage(cpuStart)
        process.send({ kind: 'ran', cost: { wallMs, cpuMs: (user + system) / 1000 }, tokens, hidden, parts: [] })
      } else process.exit(0)
    } catch (error) {
      process.send({ kind: 'failed', message: String(error?.message ?? error) }, () => process.exit(1))
    }
  })
}
