// Which file is of which kind, by its name.

/** Programs and texts about Dockerfiles; those of a purpose are called `Dockerfile.dev`. */
const ofCode =
  /\.(?:dockerignore|[cm]?[jt]sx?|map|vue|svelte|py|go|rs|rb|php|java|kt|cs|lua|md|rst|adoc|html?|s?css|json|lock)$/i;

export const isDockerfile = (path: string): boolean =>
  /(?:^|\/)(?:[\w.-]+\.)?(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?$/i.test(path) && !ofCode.test(path);

export const isCompose = (path: string): boolean => /(?:^|\/)(?:docker-)?compose(?:[.-][\w-]+)*\.ya?ml$/i.test(path);

/** May have services of Compose; the text says whether. */
export const mayBeCompose = (path: string): boolean => /\.ya?ml$/i.test(path);

/** May be a template of CloudFormation; the text says whether. */
export const mayBeTemplateFile = (path: string): boolean => /\.(?:ya?ml|json|template|cfn|cform)$/i.test(path);

/** Files of package managers and compilers, which are many and large. */
const isOfTools = (path: string): boolean =>
  /(?:^|\/)(?:package(?:-lock)?|npm-shrinkwrap|tsconfig[\w.]*|composer)\.json$/.test(path);

export const wantsTemplate = (path: string): boolean =>
  mayBeTemplateFile(path) && !path.endsWith('.tf.json') && !isOfTools(path);
