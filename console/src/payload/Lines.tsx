// Very many lines, of which only those in sight are in the page. Long ones are wrapped.
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';

/** Browsers cannot scroll through more pixels than about 16 million. */
export const MOST_LINES = 800_000;
/** Of a line that is not wrapped. */
const LINE_PX = 20;
const MOST_PX = 600;
const LEAST_LINES = 3;
/** Above the first and below the last line, as in console.css. */
const PADDING_PX = 6;

export function Lines({ label, count, line }: { label: string; count: number; line: (index: number) => ReactNode }) {
  const scroller = useRef<HTMLDivElement>(null);
  const shown = Math.min(count, MOST_LINES);
  const virtual = useVirtualizer({
    count: shown,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 12,
  });
  const height = Math.min(MOST_PX, Math.max(LEAST_LINES * LINE_PX, virtual.getTotalSize()) + 2 * PADDING_PX);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keys too */}
      <section className="lines" ref={scroller} tabIndex={0} aria-label={label} style={{ height }} data-lines={count}>
        <div style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className="line verbatim"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {line(item.index)}
            </div>
          ))}
        </div>
      </section>
      {count > shown && (
        <p className="small quiet">
          Showing the first {shown.toLocaleString('en-US')} lines. Download the file to see the rest.
        </p>
      )}
    </>
  );
}
