// Directories that a checkout lies in: what is before the first part of a path that belongs to the repository. Paths
// are
// compared by whole parts; a drive letter (`C:`) is the first part of its path.

/** Working directories of CI services and of containers, at the beginning of an absolute path. */
const checkouts: readonly RegExp[] = [
  // GitHub Actions, hosted and self-hosted; Azure Pipelines (a number and a letter)
  /^\/(?:home|Users)\/(?:runner|vsts)\/work\/[^/]+\/[^/]+(?:\/|$)/,
  /^[A-Z]:\/a\/(?:\d+\/[a-z]|[^/]+\/[^/]+)(?:\/|$)/,
  /^\/__w\/[^/]+\/[^/]+(?:\/|$)/,
  /^(?:[A-Z]:)?\/(?:[^/]+\/){0,6}_work\/[^/]+\/[^/]+(?:\/|$)/,
  /^\/github\/workspace(?:\/|$)/,
  // GitLab, Bitbucket, CircleCI, CodeBuild, Drone, Tekton, Cloud Build
  /^\/builds\/[^/]+\/[^/]+(?:\/|$)/,
  /^\/opt\/atlassian\/(?:pipelines|bitbucketci)\/agent\/build(?:\/|$)/,
  /^\/bitbucket\/pipelines\/agent\/build(?:\/|$)/,
  /^\/(?:home\/circleci|root)\/(?:project|repo)(?:\/|$)/,
  /^\/codebuild\/output\/src\d+\/src\/(?:[^/]+\.[a-z]+\/[^/]+\/)?[^/]+(?:\/|$)/,
  /^\/(?:drone|woodpecker)\/src(?:\/|$)/,
  /^\/workspace\/source(?:\/|$)/,
  // Jenkins, TeamCity, Buildkite
  /^(?:[A-Z]:)?\/(?:[^/]+\/){0,5}[Jj]enkins(?:_home)?\/(?:[^/]+\/)?workspace\/[^/]+(?:\/|$)/,
  /^(?:[A-Z]:)?\/(?:[^/]+\/){0,4}[Bb]uildAgent\/work\/[^/]+(?:\/|$)/,
  /^\/(?:[^/]+\/){0,4}buildkite-agent\/builds\/[^/]+\/[^/]+\/[^/]+(?:\/|$)/,
  // images of tools
  /^\/(?:usr\/src\/app|usr\/src|workspaces?|workdir|src|app|code|repo|project|scan|tf|zap\/wrk)(?:\/|$)/,
];

/** First parts of places where people and services keep checkouts; `/etc/x` of an image is no path of a repository. */
const holders = new Set(
  [
    'home',
    'Users',
    'users',
    'root',
    'tmp',
    'private',
    'builds',
    'mnt',
    'data',
    'srv',
    'work',
    'repos',
    'projects',
  ].concat(['checkout', 'checkouts', 'ci', 'agent', 'runner', 'jenkins', 'media', 'volumes', 'Volumes', 'scratch']),
);
/** Directories within repositories: a root ends before them. */
const conventional = new Set(
  ['src', 'source', 'sources', 'lib', 'libs', 'app', 'apps', 'test', 'tests', 'spec', 'pkg', 'packages', 'cmd'].concat(
    ['internal', 'include', 'public', 'scripts', 'charts', 'deploy', '.github', 'server', 'client', 'api', 'web'],
    ['backend', 'frontend', 'services', 'modules', 'components', 'config', 'infra', 'terraform', 'k8s', 'bin'],
    ['vendor', 'node_modules', 'examples'],
  ),
);

export const isAbsolute = (path: string): boolean => /^(?:\/|[A-Z]:\/)/.test(path);
export const partsOf = (path: string): string[] => path.split('/').filter(Boolean);

/** What is left of the path below the directory; null: it lies elsewhere. Drives are compared without case. */
export function below(path: string, directory: string): string | null {
  const root = directory.replace(/\/+$/, '');
  const isWindows = /^[A-Z]:/.test(root);
  const [given, wanted] = isWindows ? [path.toLowerCase(), root.toLowerCase()] : [path, root];
  if (given === wanted) return '';
  return given.startsWith(`${wanted}/`) ? path.slice(root.length + 1) : null;
}

/** Without the working directory of a CI service or of a tool's image; null: it begins with none. */
export function withoutCheckout(path: string): string | null {
  if (!isAbsolute(path)) return null;
  for (const pattern of checkouts) {
    const found = pattern.exec(path);
    if (found !== null) return path.slice(found[0].length);
  }
  return null;
}

/** A path without root and drive. */
export const withoutRoot = (path: string): string => path.replace(/^[A-Z]:(?=\/)/, '').replace(/^\/+/, '');

export const isHolder = (part: string): boolean => /^[A-Z]:$/.test(part) || holders.has(part);
const isHeld = (path: string): boolean => isHolder(partsOf(path)[0] ?? '');

/** Where in an absolute path the first directory is that repositories have; -1: nowhere. */
export const innerAt = (parts: readonly string[]): number =>
  parts.findIndex((part, index) => index >= 2 && conventional.has(part));

/** Collects absolute paths and gives the directory that all of them have in common, above `src` and its like. */
export class CommonRoot {
  private common: string[] | null = null;
  private isWindows = false;

  add(path: string): void {
    if (!isAbsolute(path) || !isHeld(path)) return;
    const directory = partsOf(path).slice(0, -1);
    this.isWindows = /^[A-Z]:/.test(path);
    if (this.common === null) {
      this.common = directory;
      return;
    }
    const differs = this.common.findIndex((part, index) => part !== directory[index]);
    if (differs >= 0) this.common = this.common.slice(0, differs);
  }

  /** null: there is none, or it is the root of the file system. */
  get root(): string | null {
    if (this.common === null) return null;
    const inner = innerAt(this.common);
    const kept = inner < 0 ? this.common : this.common.slice(0, inner);
    return kept.length === 0 ? null : `${this.isWindows ? '' : '/'}${kept.join('/')}`;
  }
}
