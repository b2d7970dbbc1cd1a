// Payloads of a given size: JSON as webhooks bring it, every one different, because PostgreSQL compresses what is large.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';

const NAMES = [
  'Ada Lovelace',
  'Łukasz Größe',
  'Grace Hopper',
  '田中 花子',
  'Alan Turing',
  'Zoë Díaz',
  'Margaret Hamilton',
];
const WORDS = [
  'blue',
  'large',
  'cotton',
  'shirt',
  'steel',
  'bottle',
  'desk',
  'lamp',
  'oak',
  'table',
  'wool',
  'scarf',
  'running',
  'shoe',
];

const any = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;

function line(): object {
  return {
    id: randomInt(2 ** 40),
    sku: `${any(WORDS)}-${any(WORDS)}-${randomInt(10_000)}`,
    title: `${any(WORDS)} ${any(WORDS)} ${any(WORDS)}`,
    quantity: randomInt(1, 9),
    price: { amount: (randomInt(100_000) / 100).toFixed(2), currency: 'EUR' },
    variant_id: randomUUID(),
    taxable: randomInt(2) === 0,
  };
}

/** An order with as many lines as fit. @param bytes about how large its JSON is */
export function orderOf(bytes: number): string {
  const name = any(NAMES);
  const order = {
    type: 'order.paid',
    id: randomUUID(),
    created_at: new Date().toISOString(),
    customer: { id: randomInt(2 ** 40), name, email: `customer${randomInt(1_000_000)}@example.com` },
    total: (randomInt(1_000_000) / 100).toFixed(2),
    lines: [] as object[],
  };
  let text = JSON.stringify(order);
  for (let next = text; Buffer.byteLength(next) <= bytes; next = JSON.stringify(order)) {
    text = next;
    order.lines.push(line());
  }
  return text;
}

/** JSON that PostgreSQL cannot compress: an encoded file, for example. */
export const fileOf = (bytes: number): string =>
  JSON.stringify({ type: 'file.created', content: randomBytes(Math.floor((bytes * 3) / 4) - 36).toString('base64') });
