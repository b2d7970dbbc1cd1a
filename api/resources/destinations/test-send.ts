// Test deliveries to a destination.
// Rules: ERR-06, DEST-44 to DEST-46.

import type { ReceivedAddress } from '../../../core/delivery/delivery-url.ts';
import { newId } from '../../../core/text/ids.ts';
import { isSuccess } from '../../../core/delivery/response-check.ts';
import { MissingCredentialsError } from '../../../outbound/http/auth.ts';
import {
  buildOutboundRequest,
  type OutboundInput,
  type OutboundRequest,
} from '../../../outbound/http/outbound-request.ts';
import type { Sender } from '../../../outbound/http/sender.ts';

/** What it sends, as if it had come in. */
interface TestWebhook {
  /** Undefined: a sample. */
  payload: Record<string, unknown> | undefined;
  address: ReceivedAddress;
}

export interface TestSender {
  /** Sends one test webhook; errors are part of the result. */
  send(
    destination: OutboundInput['destination'] & { id: string; organizationId: string },
    webhook: TestWebhook,
  ): Promise<TestResult>;
}

export type TestResult =
  | { success: true; statusCode: number; latency: number; responseBody: string; message: string }
  | {
      success: false;
      statusCode: number | null;
      latency: number;
      responseBody: string | null;
      error: string;
      message: string;
    };

/** The default payload of a test. */
export const samplePayload = {
  type: 'test',
  message: 'This is a test event from Hookyard',
  data: { id: 'sample', amount: 4200, currency: 'EUR' },
};

/** @param options.headerPrefix HOOKYARD_HEADER_PREFIX @param options.version Hookyard's own */
export function createTestSender(sender: Sender, options: { headerPrefix: string; version: string }): TestSender {
  return {
    async send(destination, { payload = samplePayload, address }) {
      let request: OutboundRequest;
      try {
        request = buildTestRequest(options, destination, { payload, address });
      } catch (error) {
        if (error instanceof MissingCredentialsError) return failure(null, 0, null, error.message);
        throw error;
      }
      const { id: poolKey, organizationId, timeoutMs } = destination;
      const result = await sender.send({ ...request, organizationId, poolKey, timeoutMs });
      if (result.kind === 'error') {
        return failure(null, result.latency, null, result.detail);
      }
      const { statusCode, latency, bodyText } = result;
      const judged = isSuccess(null, statusCode, false);
      if (!judged.success) return failure(statusCode, latency, bodyText, judged.reason);
      return { success: true, statusCode, latency, responseBody: bodyText, message: 'The test webhook was delivered' };
    },
  };
}

function buildTestRequest(
  options: { headerPrefix: string; version: string },
  destination: OutboundInput['destination'],
  { payload, address }: { payload: Record<string, unknown>; address: ReceivedAddress },
): OutboundRequest {
  return buildOutboundRequest({
    ...options,
    destination,
    event: {
      id: newId('evt'),
      headers: { 'Content-Type': 'application/json' },
      address,
      body: Buffer.from(JSON.stringify(payload)),
    },
    delivery: { id: newId('dlv') },
    attempt: 1,
    source: { slug: 'test' },
    nowMs: Date.now(),
  });
}

function failure(statusCode: number | null, latency: number, responseBody: string | null, error: string): TestResult {
  return { success: false, statusCode, latency, responseBody, error, message: `The test webhook failed: ${error}` };
}
