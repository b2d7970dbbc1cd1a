// A record by its name, as a link to its page.
import { Link } from '@tanstack/react-router';
import { plain } from '../format.ts';

const PAGES: Record<string, string> = {
  src: '/sources',
  dst: '/destinations',
  dst_wh: '/destinations',
  rte: '/routes',
  flt: '/filters',
  tfm: '/transforms',
  sch: '/schemas',
  evt: '/events',
  dlv: '/deliveries',
  iss: '/issues',
  rpl: '/replays',
  alc: '/alert-channels',
};

/** The page of a record; undefined for ids that have none. */
export function pathOfId(id: string): string | undefined {
  const page = PAGES[id.slice(0, id.lastIndexOf('_'))];
  return page && `${page}/${id}`;
}

export function Name({ id, name }: { id: string; name?: string | null | undefined }) {
  const path = pathOfId(id);
  const text = plain(name ?? id);
  return path ? (
    <Link to={path}>
      <bdi>{text}</bdi>
    </Link>
  ) : (
    <bdi>{text}</bdi>
  );
}
