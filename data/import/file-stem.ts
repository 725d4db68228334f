/** A file's own name without folder and ending: readable part of ids for formats that have none. Pure. */
export function fileStem(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  return base.replace(/(\.traj)?\.(jsonl?|ndjson|traj|ipynb|md|log|txt)$/, '')
}
