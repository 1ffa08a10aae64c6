// The kinds of templates: which texts each has, what may stand in them, and what the release says where no other text
// was saved. A kind is a row here; who uses it fills the same placeholders.
import { defaultBody, defaultTitle, placeholderNames } from '../integrations/template.js';
import { noticeDefaults, noticePlaceholders } from '../notifications/notice-text.js';
import { reportDefaults, reportPlaceholders } from '../reports/frame.js';
import type { TemplateKind, Texts } from './stored.js';

export interface TemplatePart {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly charactersMax: number;
  readonly isLine: boolean;
  /** Of the release. */
  readonly text: string;
}
export interface Kind {
  readonly title: string;
  readonly about: string;
  /** "which no … has" */
  readonly whose: string;
  readonly placeholders: readonly string[];
  readonly parts: readonly TemplatePart[];
}

const line = (name: string, title: string, text: string, about = ''): TemplatePart => ({
  ...{ name, title, text, about },
  charactersMax: 300,
  isLine: true,
});
const block = (name: string, title: string, text: string, about = ''): TemplatePart => ({
  ...{ name, title, text, about },
  charactersMax: 10_000,
  isLine: false,
});

const writeUp = `## {{title}}

| | |
|---|---|
| Severity | {{severity}}, risk {{risk}} |
| Application | {{application}} |
| Where | {{location}} |
| Weakness | {{cwe}} |
| Vulnerability | {{cve}} |
| CVSS | {{cvss}} |
| Seen since | {{first_seen}} |
| Fix due | {{due}} |

{{description}}`;

export const kinds: Readonly<Record<TemplateKind, Kind>> = {
  ticket: {
    title: 'Tickets',
    about: 'title and text of tickets in issue trackers; an integration may name another template or texts of its own',
    whose: 'finding',
    placeholders: placeholderNames,
    parts: [
      line('title', 'Title', defaultTitle, 'of a group: of its first finding'),
      block('body', 'Text', defaultBody, 'in the markup of the tracker; once for each finding'),
    ],
  },
  notice: {
    title: 'Notices',
    about: 'subject and lines of notices by e-mail, Slack, Teams and others; a route may name another template',
    whose: 'notice',
    placeholders: Object.keys(noticePlaceholders),
    parts: [
      line('subject', 'Subject', noticeDefaults.subject, 'of several events: of the first one'),
      line('line', 'Line', noticeDefaults.line, 'once for each event; empty: as the channel shows it best'),
    ],
  },
  report: {
    title: 'Reports',
    about: 'title, introduction and closing of reports; a report may name another template',
    whose: 'report',
    placeholders: Object.keys(reportPlaceholders),
    parts: [
      line('title', 'Title', reportDefaults.title, 'where the report is given none'),
      block('introduction', 'Introduction', reportDefaults.introduction, 'HTML, PDF and JSON; a paragraph each line'),
      block('closing', 'Closing', reportDefaults.closing, 'behind the last section'),
    ],
  },
  finding: {
    title: 'Write-ups of findings',
    about: 'a finding as a text to hand on, such as in a report of a penetration test',
    whose: 'finding',
    placeholders: placeholderNames,
    parts: [block('body', 'Text', writeUp, 'Markdown')],
  },
};

/** Every text of a template, those of the release where it has none. */
export const completed = (kind: TemplateKind, texts: Texts): Texts =>
  Object.fromEntries(kinds[kind].parts.map(({ name, text }) => [name, texts[name] ?? text]));
