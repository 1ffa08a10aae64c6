// Fonts of PDF reports. DejaVu Sans comes with Gatehouse (Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic);
// Chinese, Japanese and Korean need a font of the system, which is looked for by its usual file names. The standard
// fonts of PDF are no choice: they know Latin-1 only.
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { openSync, type Font, type FontCollection } from 'fontkit';

export interface ReportFont {
  readonly file: string;
  /** Which one of a collection; null: the file is one font. */
  readonly member: string | null;
  has(codePoint: number): boolean;
  /** Width at 1 point, in points. */
  widthOf(codePoint: number): number;
}

const directories = [
  '/usr/share/fonts',
  '/usr/local/share/fonts',
  join(homedir(), '.local/share/fonts'),
  '/System/Library/Fonts',
  '/Library/Fonts',
  'C:\\Windows\\Fonts',
];
/** Fonts with Chinese, Japanese or Korean letters, the widest ones first. */
const wanted = [
  /^NotoSansCJK(?:[a-z]{2})?-Regular\.(?:ttc|otf)$/,
  /^SourceHanSans(?:[A-Z]{0,2}|CN|HK|TW)?-Regular\.(?:ttc|otf)$/,
  /^NotoSans(?:SC|TC|JP|KR)-Regular\.(?:ttf|otf)$/,
  /^wqy-(?:zenhei|microhei)\.ttc$/,
  /^DroidSansFallback(?:Full)?\.ttf$/,
  /^Arial Unicode\.ttf$/,
  /^(?:PingFang|Hiragino Sans GB|AppleSDGothicNeo|msyh|YuGothR)\.ttc$/,
  /^(?:ipag|ipagp|ipaexg|NanumGothic|malgun)\.ttf$/,
];
const depthMax = 4;

/** A missing or unreadable directory has no fonts. */
async function findFonts(directory: string, depth = 0): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const nested = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return depth < depthMax ? findFonts(path, depth + 1) : [];
      return wanted.some((name) => name.test(entry.name)) ? [path] : [];
    }),
  );
  return nested.flat();
}

const rankOf = (path: string): number => wanted.findIndex((name) => name.test(path.split(/[\\/]/).at(-1) ?? ''));

/** Throws for a file that is no font. */
function openFont(file: string): ReportFont {
  const opened: Font | FontCollection = openSync(file);
  const font = 'fonts' in opened ? (opened.fonts[0] as Font) : opened;
  const widths = new Map<number, number>();
  return {
    file,
    member: 'fonts' in opened ? font.postscriptName : null,
    has: (codePoint) => font.hasGlyphForCodePoint(codePoint),
    widthOf(codePoint) {
      let width = widths.get(codePoint);
      if (width === undefined) {
        width = font.glyphForCodePoint(codePoint).advanceWidth / font.unitsPerEm;
        widths.set(codePoint, width);
      }
      return width;
    },
  };
}

function openOrNull(file: string): ReportFont | null {
  try {
    return openFont(file);
  } catch {
    return null; // a damaged file of the system takes nothing from the report
  }
}

let own: ReportFont | undefined;
let ofSystem: Promise<readonly ReportFont[]> | undefined;

/** The font that comes with Gatehouse. */
export const ownFont = (): ReportFont =>
  (own ??= openFont(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')));

/** Fonts of the system with letters that the own one does not have; looked for once. */
export const systemFonts = (): Promise<readonly ReportFont[]> => (ofSystem ??= openSystemFonts());

async function openSystemFonts(): Promise<readonly ReportFont[]> {
  const found = (await Promise.all(directories.map((directory) => findFonts(directory)))).flat();
  return found
    .toSorted((left, right) => rankOf(left) - rankOf(right) || left.localeCompare(right, 'en'))
    .map(openOrNull)
    .filter((font) => font !== null);
}

/** The fonts that a document with these texts needs: the own one first, those of the system only where needed. */
export async function fontsFor(texts: Iterable<string>): Promise<readonly ReportFont[]> {
  const font = ownFont();
  const missing = new Set<number>();
  for (const text of texts)
    for (const letter of text) {
      const codePoint = letter.codePointAt(0) ?? 0;
      if (codePoint > 0x7f && !font.has(codePoint)) missing.add(codePoint);
    }
  if (missing.size === 0) return [font];
  const more = (await systemFonts()).filter((one) => [...missing].some((codePoint) => one.has(codePoint)));
  return [font, ...more];
}
