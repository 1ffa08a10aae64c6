// Pages of the lab that show values in each place of HTML, once as they are and once escaped for the place.
import { escape, html, text, type LabPage } from './page.js';

/** Without what ends a string, and without what ends the script. */
const inScript = (value: string): string => JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll("'", '\\u0027');
const address = (value: string): string => (/^(?:https?:\/\/|\/)/.test(value) ? value : '/');

interface Place {
  readonly name: string;
  readonly bad: (value: string) => string;
  readonly safe: (value: string) => string;
}

const noQuotes = (value: string): string => value.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const places: readonly Place[] = [
  { name: 'text', bad: (v) => `<p>${v}</p>`, safe: (v) => `<p>${escape(v)}</p>` },
  { name: 'double', bad: (v) => `<input value="${noQuotes(v)}">`, safe: (v) => `<input value="${escape(v)}">` },
  { name: 'single', bad: (v) => `<input value='${noQuotes(v)}'>`, safe: (v) => `<input value='${escape(v)}'>` },
  {
    name: 'bare',
    bad: (v) => `<input value=${escape(v)}>`,
    safe: (v) => `<input value=${encodeURIComponent(v) || '-'}>`,
  },
  {
    name: 'string-double',
    bad: (v) => `<script>var term = "${noQuotes(v)}";</script>`,
    safe: (v) => `<script>var term = ${inScript(v)};</script>`,
  },
  {
    name: 'string-single',
    bad: (v) => `<script>var term = '${noQuotes(v)}';</script>`,
    safe: (v) => `<script>var term = '${inScript(v).slice(1, -1)}';</script>`,
  },
  {
    name: 'link',
    bad: (v) => `<a href="${escape(v)}">there</a>`,
    safe: (v) => `<a href="${escape(address(v))}">there</a>`,
  },
  { name: 'comment', bad: (v) => `<!-- ${v} -->`, safe: (v) => `<!-- ${escape(v)} -->` },
  { name: 'area', bad: (v) => `<textarea>${v}</textarea>`, safe: (v) => `<textarea>${escape(v)}</textarea>` },
  {
    name: 'handler',
    bad: (v) => `<button onclick="show('${escape(v)}')">show</button>`,
    safe: (v) => `<button onclick="show(${escape(inScript(v))})">show</button>`,
  },
  {
    name: 'number',
    bad: (v) => `<script>var size = 1${v.replace(/[^\w()+-]/g, '')};</script>`,
    safe: (v) => `<script>var size = ${Number.parseInt(v, 10) || 1};</script>`,
  },
];

const pagesOf = ({ name, bad, safe }: Place): LabPage[] => [
  {
    path: `/show/${name}`,
    takes: { term: 'hello' },
    flaw: 'xss-reflected term',
    answer: ({ reply, value }) => html(reply, bad(value('term'))),
  },
  {
    path: `/show-safe/${name}`,
    takes: { term: 'hello' },
    answer: ({ reply, value }) => html(reply, safe(value('term'))),
  },
];

const notes: string[] = [];
const safeNotes: string[] = [];
const keep = (list: string[], value: string): void => {
  list.unshift(value.slice(0, 200));
  list.length = Math.min(list.length, 20);
};

export const scriptingPages: readonly LabPage[] = [
  ...places.flatMap(pagesOf),
  {
    path: '/feedback',
    method: 'POST',
    takes: { opinion: 'good' },
    flaw: 'xss-reflected opinion',
    answer: ({ reply, value }) => html(reply, `<p>You said ${value('opinion')}</p>`),
  },
  {
    path: '/feedback-safe',
    method: 'POST',
    takes: { opinion: 'good' },
    answer: ({ reply, value }) => html(reply, `<p>You said ${escape(value('opinion'))}</p>`),
  },
  {
    path: '/note',
    method: 'POST',
    takes: { entry: 'a note' },
    flaw: 'xss-stored entry',
    answer: ({ reply, value }) => {
      keep(notes, value('entry'));
      html(reply, '<p>Kept.</p>');
    },
  },
  { path: '/notes', answer: ({ reply }) => html(reply, `<ul>${notes.map((one) => `<li>${one}</li>`).join('')}</ul>`) },
  {
    path: '/note-safe',
    method: 'POST',
    takes: { entry: 'a note' },
    answer: ({ reply, value }) => {
      keep(safeNotes, value('entry'));
      html(reply, '<p>Kept.</p>');
    },
  },
  {
    path: '/notes-safe',
    answer: ({ reply }) => html(reply, `<ul>${safeNotes.map((one) => `<li>${escape(one)}</li>`).join('')}</ul>`),
  },
  { path: '/plain', takes: { term: 'hello' }, answer: ({ reply, value }) => text(reply, `<p>${value('term')}</p>`) },
];
