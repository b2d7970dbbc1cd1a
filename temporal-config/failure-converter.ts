// The gate for errors on their way to Temporal: of activities and of workflows, in every process. A message is a string of Protocol
// Buffers. One that is no UTF-8 (half of a surrogate pair) ends the whole worker, and one of megabytes is refused again and again.
// Loaded by its path, by the SDK and by the bundle of the workflows.
import { DefaultFailureConverter, type PayloadConverter, type ProtoFailure } from '@temporalio/common';
import { errorText } from '../core/clean-text.ts';

class CleanFailureConverter extends DefaultFailureConverter {
  /** Each cause comes here by itself. */
  override errorToFailure(...args: [error: unknown, payloadConverter: PayloadConverter]): ProtoFailure {
    const failure = super.errorToFailure(...args);
    const { message, stackTrace, applicationFailureInfo: info } = failure;
    return {
      ...failure,
      ...(message && { message: errorText(message) }),
      ...(stackTrace && { stackTrace: errorText(stackTrace) }),
      ...(info?.type && { applicationFailureInfo: { ...info, type: errorText(info.type) } }),
    };
  }
}

/** The name by which the SDK finds it. */
export const failureConverter = new CleanFailureConverter();
