// The Python SDK, installed, with the real API and with a server that answers by a script.
import { INSTALL_MS, requirePython } from '../support/programs/python.ts';
import { pythonSdk } from '../support/programs/sdks.ts';
import { describeSdk } from './suite.ts';

describe('The Python SDK', () => {
  describeSdk((context) => {
    requirePython(context);
    return pythonSdk();
  }, INSTALL_MS);
});
