// Tests whose length is a choice, of time or of rows: they are shorter in every run than with `npm test -- --all`.
const isThorough = process.env.TEST_THOROUGH === 'yes';

/** For the environment of such tests. */
export const THOROUGH = { TEST_THOROUGH: 'yes' };

/** @returns so many times as long when all tests were asked for */
export const atLength = (usual: number, times: number): number => (isThorough ? usual * times : usual);
