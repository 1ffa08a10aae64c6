// Contact sheets: several pictures in one, with their names, so that hundreds can be looked at.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

export interface Picture {
  readonly name: string;
  readonly png: Buffer;
  /** Of the window that was pictured, in CSS pixels. */
  readonly width: number;
}

/** Columns and rows of a sheet by the width of what it shows: its text stays large enough to be read. */
const layoutOf = (width: number): { readonly columns: number; readonly rows: number; readonly scale: number } => {
  if (width < 600) return { columns: 4, rows: 2, scale: 1 };
  return { columns: 2, rows: 2, scale: width < 1200 ? 0.85 : 0.7 };
};

const htmlOf = (pictures: readonly Picture[], columns: number, width: number): string => `<!doctype html>
<style>
  body { margin: 8px; background: #777; font: 12px monospace; display: grid; gap: 8px;
    grid-template-columns: repeat(${columns}, ${width}px); align-items: start; }
  figure { margin: 0; } figcaption { background: #fff; padding: 1px 4px; overflow-wrap: anywhere; }
  img { display: block; width: ${width}px; }
</style>
${pictures
  .map(
    ({ name, png }) =>
      `<figure><figcaption>${name.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</figcaption>` +
      `<img src="data:image/png;base64,${png.toString('base64')}"></figure>`,
  )
  .join('\n')}`;

/** Writes `${name}-1.png`, `${name}-2.png`… into `directory`; all pictures are of windows of one width. */
export async function writeSheets(
  browser: Browser,
  directory: string,
  name: string,
  pictures: readonly Picture[],
): Promise<void> {
  const [first] = pictures;
  if (first === undefined) return;
  const { columns, rows, scale } = layoutOf(first.width);
  const width = Math.round(first.width * scale);
  const page = await browser.newPage({ viewport: { width: columns * (width + 8) + 8, height: 600 } });
  for (let from = 0, at = 1; from < pictures.length; from += columns * rows, at += 1) {
    await page.setContent(htmlOf(pictures.slice(from, from + columns * rows), columns, width));
    await page.screenshot({ path: join(directory, `${name}-${at}.png`), fullPage: true });
  }
  await page.close();
}
