// A test whose set-up failed may leave a server or a connection open. That must not keep the run, and anyone who waits
// for it, for ever.
const GRACE_MS = 30_000;

export const mochaHooks = {
  afterAll() {
    const end = () => {
      console.error(`something that a test left open kept this process for ${GRACE_MS / 1000} s; it is ended`);
      // With the number of failures: mocha sets it on the way out.
      process.exit();
    };
    setTimeout(end, GRACE_MS).unref();
  },
};
