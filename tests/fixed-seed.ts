/**
 * `npm test` draws the same random cases every time, so that a red run means a change; `npm run test:long` draws new ones,
 * and more of them. A failure prints its seed.
 */
import fc from 'fast-check'

fc.configureGlobal({ seed: 20261130 })
