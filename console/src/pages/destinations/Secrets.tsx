// The texts of `authConfig` or `config`. A secret that is stored is shown masked, and stays when it is left so.
import { Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ConfigField, DestinationValues } from './values.ts';

interface Props {
  form: UseFormReturnType<DestinationValues>;
  member: 'authConfig' | 'config';
  fields: ConfigField[];
  isNew: boolean;
}

export function Secrets({ form, member, fields, isNew }: Props) {
  return fields.map(({ name, label, help, placeholder, isOptional, isLong }) => {
    const Field = isLong ? Textarea : TextInput;
    const isMasked = !isNew && (form.values[member][name] ?? '').startsWith('•');
    const kept = isMasked ? 'It is not shown. Left as it is, it stays.' : '';
    return (
      <Field
        key={name}
        label={label}
        description={[help, kept].filter(Boolean).join(' ') || undefined}
        placeholder={placeholder}
        autoComplete="off"
        required={!isOptional}
        {...form.getInputProps(`${member}.${name}`)}
      />
    );
  });
}
