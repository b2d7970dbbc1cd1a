// Icons of one size, drawn in strokes of the text's colour. The paths are those of Feather (MIT, Cole Bemis), or made
// like them.
import type { SVGProps } from 'react';

const icon = (path: string) => (props: SVGProps<SVGSVGElement>) => (
  <svg
    aria-hidden="true"
    {...{ width: 15, height: 15, viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 2 }}
    {...{ strokeLinecap: 'round', strokeLinejoin: 'round' }}
    {...props}
  >
    <path d={path} />
  </svg>
);

const CIRCLE = 'M12 22a10 10 0 1 0 0-20 10 10 0 0 0 0 20z';
const PAGE = 'M14 2H6a2 2 0 0 0-2 2v16a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V8z';
const TRIANGLE = 'M10.29 3.86L1.82 18a2 2 0 0 0 1.71 3h16.94a2 2 0 0 0 1.71-3L13.71 3.86a2 2 0 0 0-3.42 0z';
const GEAR = [
  'M19.4 15a1.65 1.65 0 0 0 .33 1.82l.06.06a2 2 0 1 1-2.83 2.83l-.06-.06a1.65 1.65 0 0 0-2.82 1.18V21a2 2 0 0 1-4 0v-.09',
  'a1.65 1.65 0 0 0-2.91-1.18l-.06.06a2 2 0 1 1-2.83-2.83l.06-.06A1.65 1.65 0 0 0 3.17 14H3a2 2 0 0 1 0-4h.09',
  'a1.65 1.65 0 0 0 1.18-2.82l-.06-.06a2 2 0 1 1 2.83-2.83l.06.06A1.65 1.65 0 0 0 10 3.17V3a2 2 0 0 1 4 0v.09',
  'a1.65 1.65 0 0 0 2.82 1.18l.06-.06a2 2 0 1 1 2.83 2.83l-.06.06A1.65 1.65 0 0 0 20.83 10H21a2 2 0 0 1 0 4h-.09a1.65 1.65 0 0 0-1.51 1z',
].join('');

export const ActivityLogIcon = icon('M22 12h-4l-3 9L9 3l-3 9H2');
export const BookmarkIcon = icon('M19 21l-7-5-7 5V5a2 2 0 0 1 2-2h10a2 2 0 0 1 2 2z');
export const CheckCircledIcon = icon(`${CIRCLE}M8 12l3 3 5-6`);
export const CheckIcon = icon('M20 6L9 17l-5-5');
export const ChevronDownIcon = icon('M6 9l6 6 6-6');
export const ChevronLeftIcon = icon('M15 18l-6-6 6-6');
export const ChevronRightIcon = icon('M9 18l6-6-6-6');
export const ClockIcon = icon(`${CIRCLE}M12 6v6l4 2`);
export const CodeIcon = icon('M16 18l6-6-6-6M8 6l-6 6 6 6');
export const ColumnsIcon = icon('M4 4h6v16H4zM14 4h6v16h-6z');
export const CopyIcon = icon(
  'M20 9h-9a2 2 0 0 0-2 2v9a2 2 0 0 0 2 2h9a2 2 0 0 0 2-2v-9a2 2 0 0 0-2-2zM5 15H4a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h9a2 2 0 0 1 2 2v1',
);
export const Cross2Icon = icon('M18 6L6 18M6 6l12 12');
export const DashboardIcon = icon('M3 3h7v7H3zM14 3h7v7h-7zM14 14h7v7h-7zM3 14h7v7H3z');
export const DotsHorizontalIcon = icon('M5 12h.01M12 12h.01M19 12h.01');
export const DotsVerticalIcon = icon('M12 5v.01M12 12v.01M12 19v.01');
export const DoubleArrowLeftIcon = icon('M11 17l-5-5 5-5M18 17l-5-5 5-5');
export const DoubleArrowRightIcon = icon('M13 17l5-5-5-5M6 17l5-5-5-5');
export const DownloadIcon = icon('M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4M7 10l5 5 5-5M12 15V3');
export const EnterIcon = icon('M15 3h4a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-4M10 17l5-5-5-5M15 12H3');
export const ExclamationTriangleIcon = icon(`${TRIANGLE}M12 9v4M12 17h.01`);
export const ExitIcon = icon('M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4M16 17l5-5-5-5M21 12H9');
export const FileTextIcon = icon(`${PAGE}M14 2v6h6M16 13H8M16 17H8M10 9H8`);
export const GearIcon = icon(`${GEAR}M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z`);
export const HamburgerMenuIcon = icon('M3 12h18M3 6h18M3 18h18');
export const InfoCircledIcon = icon(`${CIRCLE}M12 16v-4M12 8h.01`);
export const MagnifyingGlassIcon = icon('M11 19a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM21 21l-4.35-4.35');
export const MixerHorizontalIcon = icon('M4 21v-7M4 10V3M12 21v-9M12 8V3M20 21v-5M20 12V3M1 14h6M9 8h6M17 16h6');
export const PaperPlaneIcon = icon('M22 2L11 13M22 2l-7 20-4-9-9-4z');
export const PauseIcon = icon('M6 4h4v16H6zM14 4h4v16h-4z');
export const PlayIcon = icon('M5 3l14 9-14 9z');
export const PlusIcon = icon('M12 5v14M5 12h14');
export const Share1Icon = icon(
  'M6 3v12M18 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 9a9 9 0 0 1-9 9',
);
export const ShuffleIcon = icon('M16 3h5v5M4 20L21 3M21 16v5h-5M15 15l6 6M4 4l5 5');
