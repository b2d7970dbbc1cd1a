// How an attempt went over the network, and by which version of its destination, in one short text: every attempt has it, and
// as JSON it would be three times as long. `127.0.0.1 443 0 - 0.4 8.1 20.3 2`: address, port, whether the connection was there
// before, ms of look-up, connection, TLS and first byte, version of the destination. A later release may add parts.

/** Times in ms; null: not reached, or there was no such step. */
export interface AttemptExchange {
  /** Where the connection went, or was tried last; null: nowhere. */
  address: string | null;
  port: number | null;
  /** Whether the connection was there before. */
  reused: boolean;
  dns: number | null;
  connect: number | null;
  tls: number | null;
  firstByte: number | null;
  destinationVersion: number | null;
}

const NONE = '-';

export function exchangeText(exchange: AttemptExchange): string {
  const { address, port, reused, dns, connect, tls, firstByte, destinationVersion } = exchange;
  return [address, port, reused ? 1 : 0, dns, connect, tls, firstByte, destinationVersion]
    .map((part) => part ?? NONE)
    .join(' ');
}

/** Null: not known, because the attempt was recorded from a summary, or there was nothing to connect to. */
export function readExchange(text: string | null): AttemptExchange | null {
  if (text === null) return null;
  const [address = NONE, ...parts] = text.split(' ');
  const [port, reused, dns, connect, tls, firstByte, destinationVersion] = parts.map(numberOf);
  return {
    address: address === NONE ? null : address,
    port: port ?? null,
    reused: reused === 1,
    dns: dns ?? null,
    connect: connect ?? null,
    tls: tls ?? null,
    firstByte: firstByte ?? null,
    destinationVersion: destinationVersion ?? null,
  };
}

function numberOf(part: string): number | null {
  return part === NONE ? null : Number(part);
}
