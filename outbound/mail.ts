// Sending mail by SMTP. The address comes from the operator's own settings, so the address guard is not asked.
// Rules: NOTE-06.
import { createTransport } from 'nodemailer';
import { isUsable, type Settings } from '../core/config.ts';
import { type ErrorSummary, named, ownWords } from '../core/error-summary.ts';
import type { MailText } from '../core/notification-mail.ts';
import { currentSecret } from '../core/secret-files.ts';

// Deadlines of single steps in ms; the activity around them has one for the whole (workflows/notify.ts).
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

export interface Mail extends MailText {
  messageId: string;
  from: string;
  to: string[];
}

export interface Mailer {
  /**
   * Hands a mail to the server.
   * @returns how many recipients the server took and how many it refused (at least one was taken)
   * @throws MailError
   */
  send(mail: Mail): Promise<{ accepted: number; refused: number }>;
  close(): void;
}

/** Why a mail was refused. The message is a summary without addresses, so that it may be stored in histories. */
export class MailError extends Error {
  /** Trying again would not help: the server refuses this mail. */
  readonly permanent: boolean;
  /**
   * The server's own words, with addresses masked. For the log, which is their only place: the server is the operator's, and can
   * quote nothing but the mail, whose error is a summary too.
   */
  readonly serverWords: string;
  constructor(summary: ErrorSummary, permanent: boolean, serverWords: string) {
    super(summary);
    this.name = 'MailError';
    this.permanent = permanent;
    this.serverWords = serverWords;
  }
}

/** Who sends the mails of this installation, and with what. */
export interface Smtp {
  mailer: Mailer;
  from: string;
}

type SmtpSettings = Pick<Settings, 'SMTP_URL' | 'SMTP_URL_FILE' | 'HOOKYARD_NOTIFY_FROM'>;

/**
 * The mail server of the settings; null where there is none. If its URL is in a file, user and password may be replaced there. Another
 * host takes a restart: destinations are kept from the one that is known (core/own-services.ts).
 */
export function smtpOf(settings: SmtpSettings): Smtp | null {
  const { SMTP_URL: first, HOOKYARD_NOTIFY_FROM: from } = settings;
  const url = currentSecret(settings, 'SMTP_URL', {
    isUsable: (text) => isUsable('SMTP_URL', text) && URL.parse(text)?.host === URL.parse(first ?? '')?.host,
  });
  return url && from ? { mailer: createMailer(url), from } : null;
}

/** @param url asked for each mail: `smtp://` (STARTTLS when the server offers it) or `smtps://`, with credentials if needed */
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
    async send({ messageId, from, to, subject, text, html }) {
      try {
        const sent = await current().sendMail({
          messageId,
          from: { name: 'Hookyard', address: from },
          to: to.map((address) => ({ name: '', address })),
          subject,
          text,
          html,
          // RFC 3834: no out-of-office answers, please.
          headers: { 'Auto-Submitted': 'auto-generated' },
          disableFileAccess: true,
          disableUrlAccess: true,
        });
        return { accepted: sent.accepted.length, refused: sent.rejected.length };
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

function mailError(error: unknown): MailError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const reply = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
  const refused = ABOUT_THIS_MAIL.includes(code);
  const what = refused ? 'did not take the mail' : 'could not be used';
  return new MailError(
    ownWords`The mail server ${named(what)} (${named(code)}${named(reply > 0 ? `, reply ${reply}` : '')})`,
    refused && reply >= 500,
    String(error).replace(/[^\s<>,;:"']+@[^\s<>,;:"']+/g, '<address>'),
  );
}
