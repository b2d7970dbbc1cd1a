// What a route changed: the payload that came in beside the body that was sent, line by line.
import type { DeliveryWithAttempts } from '@hookyard/client';
import { useMemo } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Card } from '../../components/ui.tsx';
import { jsonOrNothing } from '../../json.ts';
import { plain } from '../../format.ts';

/** More are not compared: that takes time with the square of their number. */
const MOST_LINES = 1000;

interface Props {
  delivery: DeliveryWithAttempts;
  attempt: number | undefined;
}

export function Changes({ delivery, attempt }: Props) {
  const mayRead = useMay('payloads:read');
  const whole = { id: delivery.eventId, includePayload: true };
  const event = useAsk('getEvent', whole, { enabled: mayRead, scope: 'events:read' });
  const input = { id: delivery.id, includeBody: true, ...(attempt !== undefined && { attempt }) };
  const sent = useAsk('getDeliveryRequest', input, { enabled: mayRead });
  const body = sent.data?.request?.body;
  const payload = event.data?.payload;
  const lines = useMemo(() => {
    if (body === undefined || payload === undefined) return [];
    const before = textOf(payload).split('\n');
    const after = textOf(jsonOrNothing(body)?.value ?? body).split('\n');
    return before.length > MOST_LINES || after.length > MOST_LINES ? [] : diff(before, after);
  }, [body, payload]);
  if (lines.every(({ kind }) => kind === ' ')) return null;
  return (
    <Card title="Changes made by the route">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keys too */}
      <section className="diff box" aria-label="Payload received and body sent" tabIndex={0}>
        {lines.map(({ kind, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name
          <div key={index} className="verbatim" data-tone={kind === '+' ? 'ok' : kind === '-' ? 'bad' : undefined}>
            {kind} {plain(text)}
          </div>
        ))}
      </section>
    </Card>
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? String(value));

interface Line {
  kind: ' ' | '+' | '-';
  text: string;
}

/** The longest common lines, with what was taken out and put in between. */
function diff(before: string[], after: string[]): Line[] {
  // common[i][j]: how many lines the ends from i and from j have in common.
  const common = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const row = common[i];
      if (row) row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (i < before.length && before[i] === after[j]) {
      lines.push({ kind: ' ', text: before[i] ?? '' });
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: '-', text: before[i++] ?? '' });
    } else {
      lines.push({ kind: '+', text: after[j++] ?? '' });
    }
  }
  return lines;
}
