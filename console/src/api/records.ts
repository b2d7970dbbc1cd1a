// Records with a page and a form, and the operations on them.
import { pluralOf, sentence } from '../format.ts';
import type { Name } from './client.ts';

export type RecordKind = 'source' | 'destination' | 'route' | 'alert channel' | 'filter' | 'transform' | 'schema';

type Pascal<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? `${Capitalize<First>}${Capitalize<Rest>}`
  : Capitalize<Text>;
type Verb = 'get' | 'create' | 'update' | 'delete' | 'pause' | 'resume';

/** `createAlertChannel` */
export const operationOf = <V extends Verb, K extends RecordKind>(verb: V, kind: K) =>
  `${verb}${kind.replaceAll(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase())}` as `${V}${Pascal<K>}` & Name;

export type PageKind = RecordKind | 'event' | 'delivery' | 'issue' | 'replay' | 'API key' | 'audit log entry';

/** Of the page of the list. */
export const pathOf = (what: PageKind): string => `/${pluralOf(what).replace(' ', '-').toLowerCase()}`;
export const crumbOf = (what: PageKind) => ({ to: pathOf(what), label: sentence(pluralOf(what)) });
