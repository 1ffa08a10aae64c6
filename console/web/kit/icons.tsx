// Line icons of the console, drawn for it: 16 units wide, stroked in the colour of the text around them.
import type { JSX } from 'solid-js';

const paths = {
  overview: 'M2 9h3l2-5 3 9 2-4h2',
  shield: 'M8 1.5 13.5 4v4c0 3.5-2.3 5.6-5.5 6.5C4.8 13.6 2.5 11.5 2.5 8V4z',
  radar: 'M8 8 12.5 4M8 14a6 6 0 1 1 6-6M8 11a3 3 0 1 1 3-3',
  list: 'M5 4h9M5 8h9M5 12h9M2 4h.5M2 8h.5M2 12h.5',
  code: 'M5.5 4 1.5 8l4 4M10.5 4l4 4-4 4',
  patch: 'M9.5 2.5 13.5 6.5 6.5 13.5 2.5 9.5zM6 6l4 4',
  tune: 'M2 4.5h6M11 4.5h3M2 11.5h3M8 11.5h6M9.5 3v3M6.5 10v3',
  gauge: 'M2 12a6 6 0 1 1 12 0M8 12l3-4',
  ban: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M3.8 3.8l8.4 8.4',
  cog: [
    'M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2',
    'M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4',
  ].join(''),
  versions: 'M8 4.5V8l2.5 1.5M2.5 8A5.5 5.5 0 1 0 4 4.2M2.5 2.5v2.6h2.6',
  nodes: 'M3 3h10v3.5H3zM3 9.5h10V13H3zM5 4.8h.5M5 11.3h.5',
  audit: 'M4 1.5h6L13 4.5v10H4zM6 7h5M6 9.5h5M6 12h3',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5' +
    'M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 3a2.3 2.3 0 0 1 0 4.4M12 9.8c1.6.5 2.5 1.8 2.5 3.7',
  key: 'M10.5 8.5a3 3 0 1 0-3-3c0 .4.1.8.2 1.1L2 12.3V14h2.5v-1.5H6V11l2.4-2.7c.6.2 1.4.2 2.1.2',
  licence: 'M2 3.5h12v9H2zM4.5 6.5h4M4.5 9h3M11 9.5a1.2 1.2 0 1 0 0-2.4 1.2 1.2 0 0 0 0 2.4',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10M10.7 10.7 14 14',
  sun: [
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7',
    'M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  ].join(''),
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7',
  play: 'M4.5 3v10l8-5z',
  pause: 'M5 3v10M11 3v10',
  out: 'M9.5 3.5H3v9h6.5M7 8h7M11.5 5.5 14 8l-2.5 2.5',
  check: 'M3 8.5 6.5 12 13 4.5',
  bug: [
    'M8 5.5a3 3 0 0 1 3 3v2a3 3 0 0 1-6 0v-2a3 3 0 0 1 3-3M8 5.5v8M5 8.5H2.5M13.5 8.5H11',
    'M5 11l-2 2M11 11l2 2M6 3l1 2.6M10 3 9 5.6',
  ].join(''),
  chain: 'M2 8.5h3M8 8.5h2.5M2 6.5h3v4H2zM7 6.5h3v4H7zM12 6.5h2.5v4H12z',
  apps: 'M2.5 2.5h4.5V7H2.5zM9 2.5h4.5V7H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  bell: 'M8 2a4 4 0 0 0-4 4v3l-1.5 2.5h11L12 9V6a4 4 0 0 0-4-4M6.5 13.8h3',
  upload: 'M8 10.5V2.5M5 5.5l3-3 3 3M2.5 10v3.5h11V10',
  plus: 'M8 3v10M3 8h10',
  star: 'M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z',
  fold: 'M4.5 6.5 8 10l3.5-3.5',
};

export type IconName = keyof typeof paths;

export function Icon(props: { readonly name: IconName }): JSX.Element {
  return (
    <svg
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[props.name]} />
    </svg>
  );
}

export function Mark(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <path d="M4 28V13a12 12 0 0 1 24 0v15h-5V14a7 7 0 0 0-14 0v14z" fill="var(--accent)" />
      <path d="M13 28V17h2v11zm4 0V17h2v11z" fill="var(--accent)" />
    </svg>
  );
}
