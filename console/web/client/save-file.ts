// A file made of what the page has already read: what an address answers is downloaded by a link instead.

/** Offers a text as a file. The object's address is given up at once; the download that began with it goes on. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** What a file may be called: letters, digits, dots and dashes of a name that somebody wrote. */
export const fileName = (name: string): string =>
  name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+/, '') || 'file';
