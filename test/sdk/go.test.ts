// The Go SDK, compiled, with the real API and with a server that answers by a script.
import { COLD_START_MS } from '../support/programs/go-program.ts';
import { goSdk } from '../support/programs/sdks.ts';
import { describeSdk } from './suite.ts';

describe('The Go SDK', () => {
  describeSdk(goSdk, COLD_START_MS);
});
