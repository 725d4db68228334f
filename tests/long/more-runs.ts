/** Long variant of the property tests: ten times the default of random cases where a test names no number itself. */
import fc from 'fast-check'

fc.configureGlobal({ numRuns: 1000 })
