import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/property/**/*.test.ts', 'tests/long/**/*.test.ts'],
    setupFiles: ['tests/long/more-runs.ts'],
    testTimeout: 1_800_000,
    pool: 'forks',
    maxWorkers: 2,
  },
})
