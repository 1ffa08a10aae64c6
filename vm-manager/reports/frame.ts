// The words around the sections of a report, by a template. The writers escape them as everything else.
import { fillText } from '../templates/engine.js';
import type { Texts } from '../templates/stored.js';

export interface FrameFacts {
  readonly brand: string;
  readonly sections: string;
  readonly scope: string;
  /** For people, in the zone of the report. */
  readonly date: string;
  readonly by: string;
}

/** Placeholder → value. A name is never given another meaning: templates stand in the settings of people. */
export const reportPlaceholders: Readonly<Record<string, (of: FrameFacts) => string>> = {
  brand: ({ brand }) => brand,
  sections: ({ sections }) => sections,
  scope: ({ scope }) => scope,
  date: ({ date }) => date,
  by: ({ by }) => by,
};
export const reportDefaults = { title: '{{sections}}', introduction: '', closing: '' } as const;

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Paragraphs before and after the sections, and the title where the report is given none. */
export function frameOf(texts: Texts, facts: FrameFacts) {
  const fill = (part: keyof typeof reportDefaults): string =>
    fillText(texts[part] ?? reportDefaults[part], (name) => reportPlaceholders[name]?.(facts) ?? '');
  return {
    title: fill('title').replace(/\s+/g, ' ').slice(0, 200) || facts.sections,
    introduction: linesOf(fill('introduction')),
    closing: linesOf(fill('closing')),
  };
}
