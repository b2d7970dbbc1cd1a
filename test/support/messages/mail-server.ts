// A mail server on loopback that keeps what it takes.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  /** Recipients of the envelope. */
  to: string[];
  /** By lowercase name, unfolded. */
  headers: Record<string, string>;
  /** The decoded parts by content type: `text/plain` and `text/html`. */
  parts: Record<string, string>;
  raw: string;
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** Recipients of this domain are refused for good. */
export const REFUSED_DOMAIN = 'refused.example';

/** @param options.port a port to take again; by default a free one. `mails`: where to put what arrives */
export async function startMailServer(options: { port?: number; mails?: ReceivedMail[] } = {}) {
  const mails = options.mails ?? [];
  let silence: Promise<void> | undefined;
  let asked = 'mail-secret';
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === 'hookyard' && password === asked) done(null, { user: username });
      else done(new Error('wrong credentials'));
    },
    onRcptTo({ address }, _session, done) {
      if (address.endsWith(`@${REFUSED_DOMAIN}`)) {
        done(Object.assign(new Error(`no such mailbox ${address}`), { responseCode: 550 }));
      } else done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, ...parse(Buffer.concat(chunks).toString('latin1')) });
        void Promise.resolve(silence).then(() => done());
      });
    },
  });
  // Clients that break off are part of the tests.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const urlWith = (password: string) => `smtp://hookyard:${password}@127.0.0.1:${port}`;
  return {
    /** With the credentials it asks for. */
    url: urlWith(asked),
    port,
    /** In the order in which they arrived. */
    mails,
    /** From now on only this password is taken. @returns the URL with it */
    changePassword(password: string): string {
      asked = password;
      return urlWith(password);
    },
    /** From now on mails are taken and their senders left without an answer, until `answer` is called. */
    fallSilent() {
      const { promise, resolve } = Promise.withResolvers<void>();
      silence = promise;
      return {
        answer() {
          silence = undefined;
          resolve();
        },
      };
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function parse(raw: string): Omit<ReceivedMail, 'to'> {
  const { headers, body } = split(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) throw new Error('the mail is not multipart');
  const parts: Record<string, string> = {};
  for (const section of body.split(`--${boundary}`).slice(1, -1)) {
    const part = split(section.replace(/^\r\n/, ''));
    const type = part.headers['content-type']?.split(';')[0] ?? '';
    parts[type] = decode(part.body, part.headers['content-transfer-encoding'] ?? '7bit').replaceAll('\r\n', '\n');
  }
  return { headers, parts, raw };
}

function split(text: string): { headers: Record<string, string>; body: string } {
  const end = text.indexOf('\r\n\r\n');
  const lines = text
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: text.slice(end + 4) };
}

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** The link in a mail, as a mail program shows it. */
export function linkIn({ parts }: ReceivedMail): string {
  const link = /https?:\/\/\S+/.exec(parts['text/plain'] ?? '')?.[0];
  if (link === undefined) throw new Error('the mail has no link');
  return link;
}
