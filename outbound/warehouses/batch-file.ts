// The file of a batch in the format of its destination, written some rows at a time.
// Rules: WH-32, WH-37.
import { type FileContent, type FileRows, type FileSink, TextFile } from '../../core/warehouse/file.ts';
import type { FieldMappingRule } from '../../core/warehouse/field-mapping.ts';
import { type Compression, type FileFormat, isTextCompression } from '../../core/warehouse/object-key.ts';
import { parquetColumns } from '../../core/warehouse/parquet-columns.ts';
import type { Compute } from '../compute/index.ts';
import { ParquetFile } from '../parquet/file.ts';
import { CompressedSink } from './compress.ts';

export interface OpenFile {
  /** Rows stand in the order in which they are added. @throws FileTooLargeError; of Parquet ComputeBusyError; what the sink throws */
  add(some: FileRows): Promise<void>;
  /** Writes the end of the file. @throws as `add` */
  finish(): Promise<FileContent>;
}

interface BatchFileForm {
  fileFormat: FileFormat;
  compression: Compression;
  fieldMapping: FieldMappingRule[] | null;
}

/**
 * @param to.limit of the file before it is compressed, in bytes; of Parquet of its rows as text
 * @param to.sink takes its bytes as they are stored
 */
export function openFile(
  organizationId: string,
  { fileFormat, compression, fieldMapping }: BatchFileForm,
  { compute, limit, sink }: { compute: Pick<Compute, 'rowGroup'>; limit: number; sink: FileSink },
): OpenFile {
  if (fileFormat === 'parquet') {
    const form = { columns: parquetColumns(fieldMapping), compression };
    return new ParquetFile(organizationId, form, { compute, limit, sink });
  }
  if (!isTextCompression(compression)) throw new Error(`${compression} is for parquet only`);
  if (compression === 'none') return new TextFile(fileFormat, limit, sink);
  const compressed = new CompressedSink(compression, sink);
  const file = new TextFile(fileFormat, limit, compressed);
  return {
    add: (some) => file.add(some),
    async finish() {
      const content = await file.finish();
      await compressed.end();
      return content;
    },
  };
}
