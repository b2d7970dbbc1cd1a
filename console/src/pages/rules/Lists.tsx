// The lists of filters, transforms and schemas: what routes refer to by name.
import { Link } from '@tanstack/react-router';
import type { Filter, Schema, Transform } from 'hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import { TextFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { countText, plain } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

type Kind = 'filters' | 'transforms' | 'schemas';
type Rule = Filter | Transform | Schema;

const KINDS = {
  filters: {
    title: 'Filters',
    one: 'filter',
    list: 'listFilters',
    empty: 'There is no filter. Routes take every webhook of their source, or have conditions of their own.',
  },
  transforms: {
    title: 'Transforms',
    one: 'transform',
    list: 'listTransforms',
    empty: 'There is no transform. Payloads are sent as they were received.',
  },
  schemas: {
    title: 'Schemas',
    one: 'schema',
    list: 'listSchemas',
    empty: 'There is no schema. Payloads of any form are delivered.',
  },
} as const;

const detailOf = (rule: Rule): string => {
  if ('conditions' in rule) return `${rule.conditions.length} conditions, ${rule.logic}`;
  return 'code' in rule ? `${rule.type}, version ${rule.version}` : `version ${rule.version}`;
};

const columnsOf = (kind: Kind): Column<Rule>[] => [
  {
    title: 'Name',
    cell: (rule) => (
      <Link to={`/${kind}/${rule.id}`}>
        <bdi>{plain(rule.name)}</bdi>
      </Link>
    ),
    csv: (rule) => rule.name,
  },
  { title: 'What', cell: detailOf, csv: detailOf },
  { title: 'Routes', cell: (rule) => countText(rule.routeCount), csv: (rule) => rule.routeCount, numeric: true },
  { title: 'Changed', cell: (rule) => <Time at={rule.updatedAt} />, csv: (rule) => rule.updatedAt },
  { title: 'Slug', cell: (rule) => rule.slug, csv: (rule) => rule.slug, wideOnly: true },
  { title: 'Id', cell: (rule) => rule.id, csv: (rule) => rule.id, wideOnly: true },
];

function List({ kind }: { kind: Kind }) {
  const { title, one, list, empty } = KINDS[kind];
  const [search] = usePageSearch();
  return (
    <ListPage<(typeof KINDS)[Kind]['list']>
      title={title}
      list={list}
      input={{ search: search.search }}
      columns={columnsOf(kind)}
      path={`/${kind}`}
      make={{ label: `New ${one}`, to: `/${kind}/new`, scope: `${kind}:write` }}
      filters={<TextFilter name="search" label="Name or slug" />}
      empty={empty}
      noMatch="None has that in its name."
    />
  );
}

export const Filters = () => <List kind="filters" />;
export const Transforms = () => <List kind="transforms" />;
export const Schemas = () => <List kind="schemas" />;
