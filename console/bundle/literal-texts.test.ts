import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { findLiteralTexts } from './literal-texts.js';

/** Catalogues, tests, types, and the attacks of the demo, which are sent and not read. */
const notText = /^texts|\.(test|d)\.ts$|^pages.demo.examples\.ts$/;
const web = fileURLToPath(new URL('../../../console/web/', import.meta.url));

t.test('C1: words for people are found wherever a page may hold them', async (t) => {
  const bad: Readonly<Record<string, string>> = {
    'between tags': '<p>Nothing is called that.</p>',
    'a single word between tags': '<b>Save</b>',
    'an attribute': '<Button aria-label="Remove it" />',
    'an attribute that chooses': '<Card title={isOn ? "Switch off" : text.on} />',
    'an attribute with a template': '<Card title={`Rule ${id}`} />',
    'a property': 'const column = { title: "Last login" };',
    'a note': 'tell(`Rule ${id} is gone.`);',
    'a note that chooses': 'tell(isOn ? text.on : "Nothing had to change.");',
    'a conditional on the page': '<p>{isOn() ? "Switch off" : text.on}</p>',
    'a default on the page': '<p>{name ?? "No name"}</p>',
    'in a list of choices': 'const tabs = [["bans", "Bans"]];',
    'in a table of names': 'const names = { sqli: "SQL injection" };',
    'handed on': 'page("/waf", "Rule set", "shield");',
    'an answer': 'const about = () => isOn ? "It is on" : text.off;',
    'in another language': '<p>Überblick</p>',
  };
  for (const [name, code] of Object.entries(bad)) t.equal(findLiteralTexts(code).length, 1, name);
  const good = [
    '<p class="small">{text.nothing}</p>',
    '<A href="/admin/settings">{text.settings}</A>',
    '<code>SecRule</code>',
    '<TextField placeholder="http://127.0.0.1:3000" />',
    '<p>{names().join(", ")} – {"×"}</p>',
    'const body = { kind: "visual" };',
    '<Badge tone={isOn ? "good" : "neutral"}>{text.state}</Badge>',
    'call("GET /api/users");',
    'throw new Error("index.html has no #app");',
    'const path = "M3 3h10v3.5H3z";',
    'if (event.key === "Enter") run();',
  ];
  for (const code of good) t.same(findLiteralTexts(code), [], code);
});

t.test('C1: every word of every page is in the catalogue', async (t) => {
  const files = readdirSync(web, { recursive: true }).map(String);
  const pages = files.filter((path) => /\.tsx?$/.test(path) && !notText.test(path));
  t.ok(pages.length > 40, `${pages.length} files`);
  for (const path of pages)
    for (const { line, text } of findLiteralTexts(readFileSync(join(web, path), 'utf8')))
      t.fail(`console/web/${path}:${line}: "${text}" belongs into console/web/texts`);
});
