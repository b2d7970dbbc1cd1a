// Sanitizes errors of activities and workflows on their way to Temporal, in every process. A message is a Protocol
// Buffers string: one with a lone surrogate (invalid UTF-8) ends the whole worker, and one of megabytes is refused at
// every retry. Loaded by its path, by the SDK and by the bundle of the workflows.
import { DefaultFailureConverter, type PayloadConverter, type ProtoFailure } from '@temporalio/common';
import { errorText } from '../core/text/error-summary.ts';

class CleanFailureConverter extends DefaultFailureConverter {
  /** Each cause is converted separately. */
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
