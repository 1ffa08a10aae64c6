// What every page of the console has to pass: no serious finding of axe, no scrolling sideways, and a focus that can be
// seen wherever Tab leads.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Stops of Tab in the content of a page; long tables are one stop, and each of their buttons is another. */
const stopsMax = 60;

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly impact: string; readonly help: string }[];
}

interface Looked {
  /** What was reached by Tab and looked as it did before. */
  readonly unseen: string[];
  reached: number;
  readonly isFirst: (element: Element) => boolean;
}

/** Runs in the page: notes each element that gets the focus and does not show it. */
function watchFocus(): void {
  const seen = new Set<Element>();
  const looked: Looked = { unseen: [], reached: 0, isFirst: (element) => !seen.has(element) };
  const isShown = (element: Element): boolean => {
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && !outlineColor.endsWith(', 0)');
  };
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element) || seen.has(target)) return;
    seen.add(target);
    looked.reached += 1;
    // the editor of rules lives in a shadow root, and shows the focus on its frame
    const inner = target.shadowRoot?.querySelector('.cm-editor') ?? target;
    const shows = isShown(target) || isShown(inner);
    const { width, height } = target.getBoundingClientRect();
    if (!shows || width === 0 || height === 0)
      looked.unseen.push(`${target.tagName} ${target.className} ${(target.textContent ?? '').trim().slice(0, 40)}`);
  });
  (window as unknown as { looked: Looked }).looked = looked;
}

/** To be called before the page is opened. */
export async function prepareChecks(page: Page): Promise<void> {
  await page.addInitScript(axe);
  await page.addInitScript(watchFocus);
}

/** The rules of axe that look at colours: all that another theme can change. */
const colourRules = ['color-contrast', 'link-in-text-block'];

interface AxeRule {
  readonly id: string;
  readonly impact?: string;
  /** Ids of checks, or checks with options. */
  readonly any: readonly (string | { readonly id: string })[];
  readonly all: AxeRule['any'];
  readonly none: AxeRule['any'];
}

interface Axe {
  run(options: object): Promise<AxeResult>;
  readonly _audit: {
    readonly rules: readonly AxeRule[];
    readonly data: { readonly checks: Readonly<Record<string, { readonly impact?: string } | undefined>> };
  };
}

/**
 * Runs in the page: rules of axe that cannot be more than moderate, neither by themselves nor by one of their checks.
 * They are two fifths of its work, and nobody asks for what they find.
 */
function findMild(): string[] {
  const { rules, data } = (window as unknown as { axe: Axe }).axe._audit;
  const isMild = (impact: string | undefined): boolean => impact === 'minor' || impact === 'moderate';
  return rules
    .filter(({ impact, any, all, none }) => {
      const checks = [...any, ...all, ...none].map((check) => (typeof check === 'string' ? check : check.id));
      return isMild(impact) && checks.length > 0 && checks.every((id) => isMild(data.checks[id]?.impact));
    })
    .map(({ id }) => id);
}

/** Findings of axe that are serious or critical; of all its rules, or of those about colours only. */
export async function seriousOn(page: Page, only: 'all' | 'colours' = 'all'): Promise<string[]> {
  const mild = only === 'all' ? await page.evaluate(findMild) : [];
  const asked =
    only === 'all'
      ? { rules: Object.fromEntries(mild.map((id) => [id, { enabled: false }])) }
      : { runOnly: colourRules };
  const options = { resultTypes: ['violations'], ...asked };
  const { violations } = await page.evaluate(
    (options) => (window as unknown as { axe: Axe }).axe.run(options),
    options,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help }) => `${id}: ${help}`);
}

/** What sticks out of the window, where the page has become wider than it, and tables that leave room empty. */
export const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const rightOf = (element: Element): number => element.getBoundingClientRect().right;
    const found = [...document.querySelectorAll('.table.dense')]
      .filter((table) => {
        const drawn = [...table.querySelectorAll('thead th')].filter(({ clientWidth }) => clientWidth > 0);
        const last = drawn.at(-1);
        return last !== undefined && rightOf(table) - rightOf(last) > 2;
      })
      .map((table) => `${table.ariaLabel ?? 'a table'}: its columns leave room that is empty`);
    if (document.documentElement.scrollWidth <= window.innerWidth) return found;
    const isOut = (element: Element): boolean => rightOf(element) > window.innerWidth;
    return [...document.querySelectorAll('main *')]
      .filter((element) => isOut(element) && element.closest('.table-scroll') === null)
      .map(({ tagName, className }) => `${tagName}.${String(className)}`)
      .slice(0, 8)
      .concat(found);
  });

/** Walks through the content by Tab; returns what had the focus and did not show it, or that nothing had it. */
export async function unseenFocus(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    const main = document.querySelector('main');
    main?.setAttribute('tabindex', '-1');
    main?.focus();
    const { looked } = window as unknown as { looked: Looked };
    looked.unseen.length = 0;
    looked.reached = 0;
  });
  const stops = await page.evaluate(
    () =>
      document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary, [tabindex="0"])').length,
  );
  for (let at = 0; at < Math.min(stops + 1, stopsMax); at += 1) await page.keyboard.press('Tab');
  return page.evaluate((stops) => {
    const { unseen, reached } = (window as unknown as { looked: Looked }).looked;
    return stops > 0 && reached === 0 ? ['nothing was reached'] : [...unseen];
  }, stops);
}
