// The lists of filters, transforms and schemas: rules that routes share.
import type { Filter as FilterRecord, Schema, Transform } from '@hookyard/client';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { plural, sentence } from '../../format.ts';
import { LANGUAGES } from './Transform.tsx';

type Kind = 'filters' | 'transforms' | 'schemas';
type Rule = FilterRecord | Transform | Schema;

const KINDS = {
  filters: {
    one: 'filter',
    list: 'listFilters',
    text: 'A filter is a set of conditions that decides which events a route delivers.',
  },
  transforms: {
    one: 'transform',
    list: 'listTransforms',
    text: 'A transform turns an event into the body that is sent.',
  },
  schemas: {
    one: 'schema',
    list: 'listSchemas',
    text: "A schema is the JSON Schema that a route's payloads must match.",
  },
} as const;

const detailOf = (rule: Rule): string => {
  if ('conditions' in rule)
    return `${plural(rule.conditions.length, 'condition')}, ${rule.logic === 'AND' ? 'match all' : 'match any'}`;
  return 'code' in rule ? `${LANGUAGES[rule.type]}, version ${rule.version}` : `Version ${rule.version}`;
};

const columns: Column<Rule>[] = [
  nameColumn(),
  { title: 'Definition', value: detailOf },
  { title: 'Routes', value: (rule) => rule.routeCount, as: 'count' },
  { title: 'Updated', value: (rule) => rule.updatedAt, as: 'time' },
  { title: 'Slug', value: (rule) => rule.slug, wideOnly: true },
  { title: 'ID', value: (rule) => rule.id, as: 'id', wideOnly: true },
];

const FILTERS = [{ name: 'search', label: 'Name or slug', kind: 'search' }] as const satisfies Filter[];

const listOf = (kind: Kind) => {
  const { one, list, text } = KINDS[kind];
  return () => (
    <ListPage<(typeof KINDS)[Kind]['list']>
      title={sentence(kind)}
      heading="Rules"
      list={list}
      filters={FILTERS}
      columns={columns}
      path={`/${kind}`}
      make={{ label: `New ${one}`, to: `/${kind}/new`, scope: `${kind}:write` }}
      empty={{ title: `No ${kind}`, text }}
    />
  );
};

export const Filters = listOf('filters');
export const Transforms = listOf('transforms');
export const Schemas = listOf('schemas');
