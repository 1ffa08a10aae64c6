// Checkstyle XML, which many linters write. Which tool it is comes from the names of its rules.
import { unfit } from '../../../kit/endpoint.js';
import { fault, unread, type Item, type ReportFacts } from '../../record.js';
import { readXml, type Element } from '../../reading/xml.js';
import type { Format } from '../format.js';
import { lintRecord } from './lint-record.js';

const otherwise = 'Checkstyle report';

function* fileItems(file: Element, facts: ReportFacts): Generator<Item> {
  const path = file.attributes['name'] ?? '';
  for (const one of file.children) {
    const { line, column, severity: level = '', message: text = '', source = '' } = one.attributes;
    if (one.name === 'exception') yield fault(`${path}: ${one.text || 'an exception of the tool'}`);
    else if (one.name !== 'error') yield unread(`<${one.name}> is no error`, path);
    else {
      const made = lintRecord({ source, level, text, path, line, column, otherwise });
      facts.tool = made.tool ?? otherwise;
      facts.looked?.names.add(facts.tool);
      yield made;
    }
  }
}

export const checkstyle: Format = {
  name: 'checkstyle',
  label: 'Checkstyle XML (ShellCheck, Hadolint, ESLint and others)',
  detection: '<checkstyle>',
  isOfAnyTool: true,
  detect: (beginning) => /<checkstyle[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = otherwise;
    facts.looked = { by: 'tool', names: new Set(), isOfResults: true };
    let [isReport, files] = [false, 0];
    for await (const [element, above] of readXml(file, () => true, ['checkstyle'])) {
      const top = above[0] ?? element;
      if (top.name !== 'checkstyle') throw unfit('file', 'is no Checkstyle report');
      isReport = true;
      if (element.name === 'file') files++;
      if (element.name === 'file' && above.length === 1) yield* fileItems(element, facts);
      else if (element.name === 'exception') yield fault(element.text || 'an exception of the tool');
      else if (element.name !== 'checkstyle' || above.length > 0)
        yield unread(`<${element.name}> is no file`, element.name);
    }
    if (!isReport) throw unfit('file', 'is no Checkstyle report');
    // it lists each file, also one without an error
    if (files === 0) yield fault('the report names no file: none was looked at');
    facts.complete = true;
  },
};
