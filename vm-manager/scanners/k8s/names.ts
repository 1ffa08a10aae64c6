// Names that files with manifests usually have.
export const isUsualName = (path: string): boolean => /\.(?:ya?ml|json)$/i.test(path);
