// Waits for several promises, some of which may fail.

/** @throws the first error, when all have ended */
export async function settleAll(works: Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}
