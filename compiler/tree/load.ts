// Sources → one list of nodes in load order: follows Include and IncludeOptional.
import type { DirectiveNode, Node } from './ast.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { parseFile } from './parser.js';
import type { SourceFile, SourceSet, SourceText } from '../text/source.js';

const includeDepthMax = 32; // a chain longer than this is a mistake
const filesCountMax = 2000; // a glob over a whole disk is one too

class Loader {
  readonly nodes: Node[] = [];
  private readonly open: string[] = [];

  constructor(
    private readonly sources: SourceSet,
    private readonly diagnostics: Diagnostics,
  ) {}

  load(path: string, text: string, name?: string): void {
    const file = this.sources.add(path, text, name);
    if (!checkBytes(file, this.diagnostics)) return;
    this.open.push(path);
    for (const node of parseFile(file, this.diagnostics)) {
      if (node.kind === 'directive' && (node.key === 'include' || node.key === 'includeoptional'))
        this.include(node, file);
      else this.nodes.push(node);
    }
    this.open.pop();
  }

  private include(node: DirectiveNode, file: SourceFile): void {
    const pattern = node.args[0];
    if (pattern === undefined || node.args.length > 1 || pattern.text === '') {
      this.diagnostics.report('GH-C1008', `${node.name.text} needs one path`, file, node);
      return;
    }
    const paths = this.sources.resolveInclude(file, pattern.text);
    if (paths.length === 0 && node.key === 'include')
      this.diagnostics.report('GH-C1005', `no file matches "${pattern.text}"`, file, pattern);
    for (const path of paths) {
      if (this.open.includes(path)) {
        this.diagnostics.report('GH-C1006', `"${path}" includes itself`, file, pattern);
        continue;
      }
      if (this.open.length >= includeDepthMax || this.sources.files.length >= filesCountMax) {
        this.diagnostics.report(
          'GH-C1007',
          `more than ${includeDepthMax} nested or ${filesCountMax} included files`,
          file,
          pattern,
        );
        return;
      }
      const text = this.sources.reader.read(path);
      if (text === null) this.diagnostics.report('GH-C1005', `"${path}" cannot be read`, file, pattern);
      else this.load(path, text);
    }
  }
}

function checkBytes(file: SourceFile, diagnostics: Diagnostics): boolean {
  for (let at = 0; at < file.text.length; at += 1) {
    if (file.text.charCodeAt(at) <= 0xff) continue;
    diagnostics.report(
      'GH-C1010',
      'the text holds characters above U+00FF, so it was decoded instead of being read as bytes',
      file,
      { start: at, end: at + 1 },
    );
    return false;
  }
  return true;
}

/** Parses the sources in order; a source given as a path is read through the reader. */
export function loadNodes(
  given: readonly (SourceText | string)[],
  sources: SourceSet,
  diagnostics: Diagnostics,
): Node[] {
  const loader = new Loader(sources, diagnostics);
  for (const source of given) {
    if (typeof source !== 'string') {
      loader.load(source.path, source.text, source.name);
      continue;
    }
    const text = sources.reader.read(source);
    if (text === null) {
      const file = sources.add(source, '');
      diagnostics.report('GH-C1005', `"${source}" cannot be read`, file, { start: 0, end: 0 });
    } else loader.load(source, text);
  }
  return loader.nodes;
}
