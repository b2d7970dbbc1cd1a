// The lists of filters, transforms and schemas: rules that routes share.
import type { Filter as FilterRecord, Schema, Transform } from '@hookyard/client';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { plural } from '../../format.ts';
import { LANGUAGES } from './Transform.tsx';

type Kind = 'filter' | 'transform' | 'schema';
type Rule = FilterRecord | Transform | Schema;

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

type List = 'listFilters' | 'listTransforms' | 'listSchemas';

const listOf = (kind: Kind, list: List, empty: string) => () => (
  <ListPage<List>
    of={kind}
    heading="Rules"
    list={list}
    filters={FILTERS}
    columns={columns}
    make={`${kind}s:write`}
    empty={empty}
  />
);

export const Filters = listOf(
  'filter',
  'listFilters',
  'A filter is a set of conditions that decides which events a route delivers.',
);
export const Transforms = listOf(
  'transform',
  'listTransforms',
  'A transform turns an event into the body that is sent.',
);
export const Schemas = listOf(
  'schema',
  'listSchemas',
  "A schema is the JSON Schema that a route's payloads must match.",
);
