// Test messages to channels of alerts.
import type { OpenChannel } from '../../../core/messages/channel.ts';
import { newId } from '../../../core/text/ids.ts';
import type { SendAlert } from '../../../outbound/alerts.ts';
import type { TestResult } from '../destinations/test-delivery.ts';

/** For mails there is no status and no body. */
export type AlertTestResult =
  | (Omit<TestResult & { success: true }, 'statusCode' | 'responseBody'> & {
      statusCode: number | null;
      responseBody: string | null;
    })
  | (TestResult & { success: false });

/** Sends a test message now; errors are part of the result. */
export type AlertTester = (
  channel: OpenChannel & { name: string },
  organization: { id: string; slug: string },
  to: string[],
) => Promise<AlertTestResult>;

export function createAlertTester(send: SendAlert): AlertTester {
  return async ({ name, ...channel }, organization, to) => {
    const message = {
      id: newId('alm'),
      at: new Date(),
      organization,
      channel: { id: channel.id, name },
      content: { kind: 'test' as const },
      apiBase: '',
      hasConsole: false,
    };
    const result = await send(channel, message, to);
    const { statusCode, latency, responseBody } = result;
    const came = { statusCode, latency, responseBody };
    if (result.ok) return { success: true, ...came, message: 'The test message was sent' };
    return { success: false, ...came, error: result.detail, message: `The test message failed: ${result.detail}` };
  };
}
