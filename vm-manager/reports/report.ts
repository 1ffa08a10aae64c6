// What a report is before it has a form: sections of figures and one table each. Whoever makes a report fills this; the
// four writers (`render.ts`, `pdf.ts`) know nothing else of it.
import type { Tint } from '../chains/score.js';
import type { Chart } from './drawn/charts.js';

export interface Column {
  readonly name: string;
  /** Points on paper; those of a section add up to `paperWidth`. */
  readonly width: number;
}
/** Points: an A4 page on its side less its margins. */
export const paperWidth = 769;

export interface Row {
  readonly tint: Tint;
  /** One for each column. */
  readonly cells: readonly (string | number)[];
}

export interface Section {
  readonly title: string;
  readonly figures: readonly (readonly [label: string, value: number])[];
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Said where there are no rows. */
  readonly none: string;
  /** Sentences that say what the figures mean, the most important one first. */
  readonly summary?: readonly string[];
  readonly charts?: readonly Chart[];
  /** What was counted, and how. */
  readonly method?: readonly string[];
  /** Words of the section that a reader outside the team may not know. */
  readonly definitions?: readonly (readonly [term: string, meaning: string])[];
  /** What the section says in the JSON form; no two sections have a member of the same name. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** What is drawn on the cover. */
export interface ReportBrand {
  readonly name: string;
  readonly tagline: string | null;
  /** `#3f51b5`. */
  readonly accent: string;
  /** A PNG whose pixels were checked; null: the name alone. */
  readonly logo: Buffer | null;
}

export interface Report {
  readonly title: string;
  /** The one application that it is about, or the organisation. */
  readonly scope: string;
  /** ISO 8601; the only thing in which two reports over the same findings differ. */
  readonly generated_at: string;
  /** The same for people, in the zone that was asked for. */
  readonly shown_at: string;
  /** Paragraphs before and after the sections, by a template; absent: none. */
  readonly introduction?: readonly string[];
  readonly closing?: readonly string[];
  readonly brand?: ReportBrand;
  /** Who built it. */
  readonly by?: string;
  /** `2026-10-30 to 2026-11-29`; absent: the report is about one moment. */
  readonly period?: string;
  /** At least one; where it is one, its title is not said again. */
  readonly sections: readonly Section[];
}
