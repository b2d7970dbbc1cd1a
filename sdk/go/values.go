package hookyard

import (
	"bytes"
	"encoding/json"
)

// Ptr is a pointer to a value: for members that may be left out.
func Ptr[Value any](value Value) *Value { return &value }

// Nullable is a member that may be left out, null or a value. Its zero value is left out.
type Nullable[Value any] struct {
	value Value
	state state
}

type state uint8

const (
	leftOut state = iota
	isNull
	isValue
)

// Set is a member with a value.
func Set[Value any](value Value) Nullable[Value] {
	return Nullable[Value]{value: value, state: isValue}
}

// Null is a member that is null.
func Null[Value any]() Nullable[Value] { return Nullable[Value]{state: isNull} }

// Get returns the value, and whether there is one.
func (n Nullable[Value]) Get() (Value, bool) { return n.value, n.state == isValue }

// IsNull tells whether it is null, as opposed to left out.
func (n Nullable[Value]) IsNull() bool { return n.state == isNull }

// IsZero tells whether it is left out.
func (n Nullable[Value]) IsZero() bool { return n.state == leftOut }

// MarshalJSON writes the value or null.
func (n Nullable[Value]) MarshalJSON() ([]byte, error) {
	if n.state != isValue {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// UnmarshalJSON reads the value or null. Numbers of any size keep their digits where the type is any.
func (n *Nullable[Value]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Null[Value]()
		return nil
	}
	n.state = isValue
	return decode(data, &n.value)
}

func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func orZero[Value any](value *Value) Value {
	if value == nil {
		return *new(Value)
	}
	return *value
}

func orNil[Value any](value *Value, err error) (*Value, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

// orNone is nothing for a nil pointer, which would be something in an interface.
func orNone[Value any](value *Value) any {
	if value == nil {
		return nil
	}
	return value
}
