import { plain, shortened } from '../format.ts';

const MOST_CHARACTERS = 2000;

/** Headers as a table; values are text of strangers. */
export function Headers({ title, of }: { title: string; of: Record<string, string> | null | undefined }) {
  const rows = Object.entries(of ?? {});
  if (rows.length === 0) return <p className="quiet">No {title.toLowerCase()}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keys too
    <section className="table table-box table-wrap mono" aria-label={title} tabIndex={0}>
      <table>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{plain(name)}</th>
              <td>
                <bdi>{plain(shortened(value, MOST_CHARACTERS))}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
