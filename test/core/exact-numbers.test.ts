import { expect } from 'chai';
import fc from 'fast-check';
import {
  canonicalText,
  compareDecimals,
  compareNumbers,
  decimalKey,
  ExactNumber,
  isJsonNumber,
  isMultiple,
  isWhole,
  magnitudeOf,
  parseExact,
  unscaled,
} from '../../core/text/exact-json.ts';
import { compileFilter } from '../../core/filters/filter.ts';
import { viewPayload } from '../../core/text/payload.ts';
import { filteredRequest } from '../support/raw-request.ts';
import { anyJson, numbersIn } from '../support/requests/json-numbers.ts';

const takes = (operator: string, value: unknown, json: string) =>
  compileFilter([{ field: 'payload.n', operator, value }], 'AND').takes(
    filteredRequest(viewPayload(Buffer.from(json)).payload),
  );

/** @returns the same, and how often something was read from it */
function watch(value: object) {
  let looks = 0;
  const counted =
    <A extends unknown[], R>(read: (...all: A) => R) =>
    (...all: A): R => {
      looks += 1;
      return read(...all);
    };
  const { get, has, ownKeys, getOwnPropertyDescriptor } = Reflect;
  const traps = { get, has, ownKeys, getOwnPropertyDescriptor };
  const handler = Object.fromEntries(
    Object.entries(traps).map(([name, read]) => [name, counted(read as () => unknown)]),
  );
  return { watched: new Proxy(value, handler), looks: () => looks };
}

/** The rule in its simplest form. */
function areEqual(one: unknown, other: unknown): boolean {
  if (isJsonNumber(one) && isJsonNumber(other)) return compareNumbers(one, other) === 0;
  if (isJsonNumber(one) || isJsonNumber(other)) return false;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  if (Array.isArray(one) !== Array.isArray(other) || names.length !== others.length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && areEqual(Reflect.get(one, name), Reflect.get(other, name)),
  );
}

describe('exact numbers', () => {
  it('come out of any JSON with the values that went in', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const printed = JSON.stringify(parseExact(json));
        expect(numbersIn(printed)).to.deep.equal(numbersIn(json));
        expect(JSON.stringify(JSON.parse(printed)), 'everything else').to.equal(JSON.stringify(JSON.parse(json)));
      }),
    );
  });

  it('make objects and arrays equal by their values', () => {
    const nested = anyJson.map(parseExact).filter((value) => typeof value === 'object' && value !== null);
    // Of few members and values, so that many are equal.
    const number = fc.constantFrom('1', '1.0', '-0', '0', '1e21', '1e999', '9007199254740993', '9007199254740993.0');
    const member = fc.oneof(number, fc.constantFrom('"1"', '"#1"', 'null', '"null"', 'true', '[1]', '{"b":1,"a":2}'));
    const similar = fc
      .tuple(fc.constantFrom('["x",', '[', '{"a":', '{"b":2, "a":', '{"a":3, "b":2, "a":'), member)
      .map(([start, end]) => parseExact(`${start}${end}${start.startsWith('[') ? ']' : '}'}`));
    fc.assert(
      fc.property(fc.oneof(similar, nested), fc.oneof(similar, nested), (one, other) => {
        expect(canonicalText(one) === canonicalText(other)).to.equal(areEqual(one, other));
        const text = canonicalText(one) ?? '';
        expect(canonicalText(parseExact(JSON.stringify(one)), text.length)).to.equal(text);
        expect(canonicalText(one, text.length - 1)).to.equal(null);
      }),
      { numRuns: 3000 },
    );
  });

  it('are numbers wherever a double prints the same value', () => {
    const exact = [
      '0',
      '-0',
      '1.0',
      '1e3',
      '0.1',
      '9007199254740992',
      '123456789012345680000',
      '1e23',
      '1e-7',
      '5e-324',
    ];
    for (const text of exact) expect(parseExact(text), text).to.equal(Number(text));
    const others = [
      '9007199254740993',
      '0.10000000000000001',
      '1e309',
      '-1e999',
      '1e-400',
      '100000000000000000.5',
      '1000000000000000000000',
    ];
    for (const text of others) {
      expect(parseExact(text), text).to.be.instanceOf(ExactNumber);
      expect(JSON.stringify([parseExact(text)])).to.equal(`[${text}]`);
    }
  });

  it('are found beside what looks like them', () => {
    const json = String.raw`{"9007199254740993":"9007199254740993","a\\":"\"9007199254740993","n":[9007199254740993,"e"],"__proto__":{"n":1e400},"a":1,"a":9007199254740995}`;
    expect(JSON.stringify(parseExact(json))).to.equal(json.replace('"a":1,', ''));
    // A letter that is spelled as an escape.
    expect(JSON.stringify(parseExact(String.raw`["\u0041",1e999,[1e-999]]`))).to.equal('["A",1e999,[1e-999]]');
  });

  it('are one object for one text, however often a body repeats it', () => {
    const numbers = parseExact(`[${'1e999,"",'.repeat(1000)}-1e999]`) as unknown[];
    expect(new Set(numbers).size).to.equal(3);
    expect(JSON.stringify(numbers)).to.equal(`[${'1e999,"",'.repeat(1000)}-1e999]`);
  });

  it('may be as long and nest as deeply as a body can', () => {
    const long = `0.${'1'.repeat(5_000_000)}`;
    expect(String(parseExact(long))).to.equal(long);
    const deep = 100_000;
    let inner = parseExact(`${'['.repeat(deep)}9007199254740993${']'.repeat(deep)}`);
    while (Array.isArray(inner)) inner = inner[0];
    expect(String(inner)).to.equal('9007199254740993');
  });

  it('are ordered by value', () => {
    const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    fc.assert(
      fc.property(digits, digits, fc.integer({ min: 0, max: 40 }), (a, b, shift) => {
        const wanted = a < b ? -1 : a > b ? 1 : 0;
        expect(compareDecimals(`${a}`, `${b}`)).to.equal(wanted);
        expect(compareDecimals(`${a}e-${shift}`, `${b}E-0${shift}`)).to.equal(wanted);
        expect(decimalKey(`${a}.0`) === decimalKey(`${b}0e-1`)).to.equal(wanted === 0);
      }),
    );
    expect(compareDecimals('0.00001', '0')).to.equal(1);
    expect(compareDecimals('-1e999', '-1e1000')).to.equal(1);
    expect(decimalKey('-0.00e5')).to.equal(decimalKey('0'));
  });

  it('tell their size, whether they are whole or multiples, and their units', () => {
    // The number, its power of ten, whether it is whole, and its units with 5 digits, 2 of them behind the point.
    const rows: [text: string, magnitude: number, isWhole: boolean, units: bigint | null][] = [
      ['0', 0, true, 0n],
      ['0.00', 0, true, 0n],
      ['1200', 3, true, null],
      ['0.05', -2, false, 5n],
      ['12.5', 1, false, 1250n],
      ['-12.50', 1, false, -1250n],
      ['10e-1', 0, true, 100n],
      ['999.99', 2, false, 99_999n],
      ['1000', 3, true, null],
      ['0.005', -3, false, null],
      ['1e2', 2, true, 10_000n],
      ['1.5e1', 1, true, 1500n],
      ['nothing', 0, false, null],
    ];
    for (const [text, magnitude, whole, units] of rows)
      expect([magnitudeOf(text), isWhole(text), unscaled(text, { precision: 5, scale: 2 })], text).to.deep.equal([
        ...[magnitude, whole, units],
      ]);
    const multiples: [a: string, b: string, boolean][] = [
      ['9', '3', true],
      ['10', '3', false],
      ['0.3', '0.1', true],
      ['-1.5', '0.5', true],
      ['1e3', '0.25', true],
      ['0.25', '1e3', false],
      ['0', '7', true],
      ['7', '0', false],
      ['1e5000', '1', true],
      ['1e5001', '1', false],
      ['nothing', '1', false],
    ];
    for (const [a, b, expected] of multiples) expect(isMultiple(a, b), `${a} of ${b}`).to.equal(expected);
    expect(() => compareDecimals('1', 'nothing')).to.throw(RangeError);
    expect([decimalKey('nothing'), decimalKey('1200') === decimalKey('1.2e3')]).to.deep.equal([null, true]);
    expect(decimalKey('12') === decimalKey('-12')).to.equal(false);
  });

  describe('in filters', () => {
    const id = '{"n":820982911946154509}';
    const number = parseExact('820982911946154509');

    it('equal their own digits only, as numbers and as texts', () => {
      for (const value of [number, '820982911946154509']) {
        expect(takes('equals', value, id)).to.equal(true);
        expect(takes('equals', value, '{"n":820982911946154508}')).to.equal(false);
        expect(takes('in', ['x', value], id)).to.equal(true);
        expect(takes('in', [value], '{"n":820982911946154508}')).to.equal(false);
      }
      expect(takes('equals', number, '{"n":"820982911946154509"}')).to.equal(true);
      expect(takes('equals', number, '{"n":"820982911946154508"}')).to.equal(false);
      expect(takes('equals', number, '{"n":820982911946154509.0}')).to.equal(true);
      expect(takes('equals', { a: [number] }, '{"n":{"a":[820982911946154509]}}')).to.equal(true);
      expect(takes('equals', { a: [number] }, '{"n":{"a":[820982911946154508]}}')).to.equal(false);
      expect(takes('equals', {}, id)).to.equal(false);
      expect(takes('contains', number, '{"n":[1,820982911946154509]}')).to.equal(true);
      expect(takes('contains', number, '{"n":[1,820982911946154508]}')).to.equal(false);
    });

    it('are ordered by all of their digits', () => {
      for (const value of [number, '820982911946154509']) {
        expect(takes('gt', value, '{"n":820982911946154510}')).to.equal(true);
        expect(takes('gt', value, id)).to.equal(false);
        expect(takes('lt', value, '{"n":820982911946154508}')).to.equal(true);
        expect(takes('gte', value, '{"n":820982911946154508}')).to.equal(false);
        expect(takes('lte', value, '{"n":1e999}')).to.equal(false);
      }
      expect(takes('gt', 0, '{"n":1e-400}')).to.equal(true);
      expect(takes('lt', '0.3', '{"n":0.29999999999999999999}')).to.equal(true);
    });

    it('cost no more to compare than the size of the wanted value tells', () => {
      const elements = watch(Array.from({ length: 1000 }, () => [1]));
      expect(canonicalText(elements.watched, 20)).to.equal(null);
      expect(elements.looks()).to.be.lessThan(20);
      const members = watch(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, 1])));
      expect(canonicalText(members.watched, 20)).to.equal(null);
      expect(members.looks(), 'its members are listed, and none is read').to.be.lessThan(2000);
      let nested: unknown = 1;
      for (let level = 0; level < 100_000; level += 1) nested = [nested];
      expect(canonicalText(nested, 20)).to.equal(null);
    });

    it('are texts with the digits that came in', () => {
      expect(takes('ends_with', '509', id)).to.equal(true);
      expect(takes('matches', '^820982911946154509$', id)).to.equal(true);
      expect(takes('contains', '4509', id)).to.equal(true);
      const round = '{"n":1000000000000000000000}';
      expect(takes('starts_with', '1000000000000000000000', round)).to.equal(true);
      expect(takes('contains', 'e', round)).to.equal(false);
      expect(takes('ends_with', '.5', '{"n":1.50}')).to.equal(true);
    });

    it('equal the same value in another notation', () => {
      const notations = ['1000000000000000000000', '1e21', '10E20', '1000000000000000000000.0'];
      for (const wanted of notations) {
        for (const actual of notations) {
          for (const value of [parseExact(wanted), wanted]) {
            expect(takes('equals', value, `{"n":${actual}}`), `${wanted} ${actual}`).to.equal(true);
            expect(takes('equals', [value], `{"n":[${actual}]}`)).to.equal(typeof value !== 'string');
          }
        }
        expect(takes('equals', parseExact(wanted), '{"n":1000000000000000000001}')).to.equal(false);
      }
    });
  });
});
