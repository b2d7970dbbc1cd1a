// The lists of filters, transforms and schemas: rules that routes share.
import type { Filter, Schema, Transform } from '@hookyard/client';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import { TextFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { plural, sentence } from '../../format.ts';
import { usePageSearch } from '../../search.ts';

type Kind = 'filters' | 'transforms' | 'schemas';
type Rule = Filter | Transform | Schema;

const KINDS = {
  filters: {
    one: 'filter',
    list: 'listFilters',
    text: 'A filter is a set of conditions that decide which events a route receives.',
  },
  transforms: {
    one: 'transform',
    list: 'listTransforms',
    text: 'A transform turns an event into the request that is sent.',
  },
  schemas: { one: 'schema', list: 'listSchemas', text: 'A JSON Schema that the payloads of a route must match.' },
} as const;

const detailOf = (rule: Rule): string => {
  if ('conditions' in rule)
    return `${plural(rule.conditions.length, 'condition')}, ${rule.logic === 'AND' ? 'all' : 'any'}`;
  return 'code' in rule ? `${sentence(rule.type)}, version ${rule.version}` : `Version ${rule.version}`;
};

const columns: Column<Rule>[] = [
  nameColumn(),
  { title: 'Definition', value: detailOf },
  { title: 'Routes', value: (rule) => rule.routeCount, as: 'count' },
  { title: 'Updated', value: (rule) => rule.updatedAt, as: 'time' },
  { title: 'Slug', value: (rule) => rule.slug, wideOnly: true },
  { title: 'ID', value: (rule) => rule.id, as: 'id', wideOnly: true },
];

function List({ kind }: { kind: Kind }) {
  const { one, list, text } = KINDS[kind];
  const [search] = usePageSearch();
  return (
    <ListPage<(typeof KINDS)[Kind]['list']>
      title={sentence(kind)}
      list={list}
      input={{ search: search.search }}
      columns={columns}
      path={`/${kind}`}
      make={{ label: `New ${one}`, to: `/${kind}/new`, scope: `${kind}:write` }}
      filters={<TextFilter name="search" label="Name or slug" isSearch />}
      empty={{ title: `No ${kind}`, text }}
    />
  );
}

export const Filters = () => <List kind="filters" />;
export const Transforms = () => <List kind="transforms" />;
export const Schemas = () => <List kind="schemas" />;
