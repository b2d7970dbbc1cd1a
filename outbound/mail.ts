// Sending mail by SMTP. The address comes from the operator's own settings, so the address guard is not asked.
import { createTransport } from 'nodemailer';
import pMap from 'p-map';
import { isUsable, type Settings } from '../core/config/config.ts';
import { type ErrorSummary, named, ownWords } from '../core/text/error-summary.ts';
import { type MailText, withStopLink } from '../core/messages/mail.ts';
import { currentSecret } from '../core/config/secret-files.ts';

// Deadlines of single steps in ms; the activity around them has one for the whole (workflows/message.ts).
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
const AT_ONCE = 5;

export interface Mail extends MailText {
  messageId: string;
  from: string;
  to: string[];
  /** The page that ends such mails to the only recipient. */
  stopLink?: string;
}

export interface Mailer {
  /**
   * Hands a mail to the server, which takes it for one recipient at least.
   * @returns how many recipients it refused
   * @throws MailError
   */
  send(mail: Mail): Promise<number>;
  close(): void;
}

/**
 * Why a mail was refused. A summary, so that it may be logged and stored in histories: the words of a server quote
 * addresses.
 */
export class MailError extends Error {
  readonly summary: ErrorSummary;
  /** Trying again would not help: the server refuses this mail. */
  readonly permanent: boolean;
  /** The server could be used, and did not take this mail. */
  readonly ofThisMail: boolean;
  constructor(summary: ErrorSummary, { permanent, ofThisMail }: { permanent: boolean; ofThisMail: boolean }) {
    super(summary);
    this.name = 'MailError';
    this.summary = summary;
    this.permanent = permanent;
    this.ofThisMail = ofThisMail;
  }
}

/**
 * Sends a mail to its recipients together, or to each alone where each has a link that stops such mails. Then a
 * recipient that the server refuses stops no other; where the server fails, all of them are to be sent again.
 * @returns how many recipients the server refused
 * @throws MailError when it was sent to nobody, or not to all because the server fails
 */
export async function sendToEach(
  mailer: Mailer,
  mail: Mail,
  linkOf: (address: string) => string | null,
): Promise<number> {
  const links = mail.to.map((address) => ({ address, stopLink: linkOf(address) }));
  if (links.every(({ stopLink }) => stopLink === null)) return mailer.send(mail);
  const tries = await pMap(
    links,
    async ({ address, stopLink }) => {
      const one = { ...mail, ...(stopLink !== null && { ...withStopLink(mail, stopLink), stopLink }), to: [address] };
      try {
        await mailer.send(one);
        return null;
      } catch (error) {
        if (error instanceof MailError) return error;
        throw error;
      }
    },
    { concurrency: AT_ONCE },
  );
  const failed = tries.filter((error) => error !== null);
  const ofServer = failed.find(({ ofThisMail }) => !ofThisMail);
  if (ofServer) throw ofServer;
  const [first] = failed;
  if (first && failed.length === tries.length) throw failed.find(({ permanent }) => !permanent) ?? first;
  return failed.length;
}

export interface Smtp {
  mailer: Mailer;
  from: string;
}

type SmtpSettings = Pick<Settings, 'SMTP_URL' | 'SMTP_URL_FILE' | 'HOOKYARD_NOTIFY_FROM'>;

/**
 * The mail server of the settings; null where there is none. If its URL is in a file, user and password may be replaced
 * there. Another host takes a restart: destinations are kept from the one that is known
 * (core/http/addresses.ts).
 */
export function smtpOf(settings: SmtpSettings): Smtp | null {
  const { SMTP_URL: first, HOOKYARD_NOTIFY_FROM: from } = settings;
  const url = currentSecret(settings, 'SMTP_URL', {
    isUsable: (text) => isUsable('SMTP_URL', text) && URL.parse(text)?.host === URL.parse(first ?? '')?.host,
  });
  return url && from ? { mailer: createMailer(url), from } : null;
}

/**
 * @param url asked for each mail: `smtp://` (STARTTLS when the server offers it) or `smtps://`, with credentials if
 * needed
 */
export function createMailer(url: () => string): Mailer {
  let used = url();
  let transport = transportTo(used);
  const current = () => {
    const now = url();
    if (now !== used) {
      transport.close();
      [used, transport] = [now, transportTo(now)];
    }
    return transport;
  };
  return {
    async send({ messageId, from, to, subject, text, html, stopLink }) {
      try {
        const { rejected } = await current().sendMail({
          messageId,
          from: { name: 'Hookyard', address: from },
          to: to.map((address) => ({ name: '', address })),
          subject,
          text,
          html,
          headers: {
            // RFC 3834: no out-of-office answers, please.
            'Auto-Submitted': 'auto-generated',
            // RFC 8058
            ...(stopLink !== undefined && {
              'List-Unsubscribe': `<${stopLink}>`,
              'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            }),
          },
          disableFileAccess: true,
          disableUrlAccess: true,
        });
        return rejected.length;
      } catch (error) {
        throw mailError(error);
      }
    },
    close: () => transport.close(),
  };
}

const transportTo = (url: string) =>
  createTransport({
    url,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });

// What the server says to this mail, by nodemailer's codes; everything else (connection, TLS, credentials) is about the
// server, which its operator can put right.
const ABOUT_THIS_MAIL = ['EENVELOPE', 'EMESSAGE'];

// RFC 3463, section 2: such a code begins the words of an answer.
const ENHANCED_CODE = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/;

/** What nodemailer says of an error. All but `response` is a constant of SMTP, of Node or of nodemailer. */
interface SmtpFailure {
  code?: string;
  /** Of Node, where `code` is nodemailer's own: `ECONNREFUSED`. */
  originalCode?: string;
  /** The step: `CONN`, `AUTH PLAIN`, `RCPT TO`. */
  command?: string;
  responseCode?: number;
  response?: string;
}

function mailError(error: unknown): MailError {
  const failure = (error instanceof Error ? error : {}) as SmtpFailure;
  const { code = 'unknown error', originalCode, command, responseCode: reply, response = '' } = failure;
  const refused = ABOUT_THIS_MAIL.includes(code);
  const what = refused ? 'did not accept the email' : 'could not be used';
  const answer = reply && ['reply', reply, ENHANCED_CODE.exec(response)?.[1]].filter(Boolean).join(' ');
  const facts = [code, originalCode, command, answer].filter(Boolean).join(', ');
  return new MailError(ownWords`The mail server ${named(what)} (${named(facts)})`, {
    permanent: refused && reply !== undefined && reply >= 500,
    ofThisMail: refused,
  });
}
