// Answers that several providers want.
import type { SourceAnswer } from '../core/ingest/source-answer.ts';

/** 200 without a body. */
export const EMPTY: SourceAnswer = { status: 200, body: '', contentType: 'text/plain' };

/** 204, which has no body. */
export const NO_CONTENT: SourceAnswer = { status: 204, body: '', contentType: 'text/plain' };
