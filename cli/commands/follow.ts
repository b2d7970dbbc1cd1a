// hookyard events follow: events as they arrive, a line each, until it is ended.
import type { Client, Event } from '../../client/index.ts';
import { onEndRequest } from '../../core/process/end-request.ts';
import type { Context } from '../context.ts';
import { cell } from '../output.ts';

type Filter = NonNullable<Parameters<Client['streamEvents']>[0]>;

export async function followEvents({ client, output }: Context, filter: Filter): Promise<void> {
  const end = new AbortController();
  onEndRequest(() => end.abort());
  let opened = 0;
  try {
    for await (const told of client.streamEvents(filter, { signal: end.signal })) {
      if (told.type === 'event') output.line(output.json ? JSON.stringify(told.event) : lineOf(told.event));
      else if (told.type === 'gap')
        output.note('More came than could be followed; hookyard events list has the others');
      // It is opened again every minute.
      else if (opened++ === 0) output.note('Events are shown as they arrive. Ctrl-C ends it.');
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
  }
}

const lineOf = ({ receivedAt, id, source, routed, payloadSize }: Event): string =>
  [receivedAt, id, cell(source.name), `${payloadSize} bytes`, ...(routed ? [] : ['no route took it'])].join('  ');
