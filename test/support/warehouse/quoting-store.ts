// An object store that speaks S3, takes nothing, and quotes in its errors what it was sent.
import { type Listening, listenHttp } from '../servers/listen.ts';

export const startQuotingStore = (): Promise<Listening> =>
  listenHttp((_request, response, body) => {
    const sent = body.toString().replace(/[<&]/g, ' ');
    response.writeHead(400, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>InvalidRow</Code><Message>No such row: ${sent.slice(-200)}</Message></Error>`);
  });
