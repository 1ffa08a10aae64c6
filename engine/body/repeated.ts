// What parsers hand out besides the body itself: names repeat their whole path, and the text of an element holds that
// of the elements within it. One key of 400 KB above a thousand values would make 400 MB of a body of half a megabyte;
// 12 KB of brackets, 75 bytes on the wire, made half a megabyte of names, which cost 40 ms to inspect.

const free = 96 * 1024; // a thousand names of a hundred characters
const shortBody = 64 * 1024;
const perByteBeyond = 4;

/**
 * How many bytes of names (JSON, XML) or of nested text (XML) a body of `bodyBytes` bytes may make in total. Beyond it
 * the body is refused like one with too many arguments.
 */
export const repeatedBytesMax = (bodyBytes: number): number =>
  free + Math.max(0, bodyBytes - shortBody) * perByteBeyond;
