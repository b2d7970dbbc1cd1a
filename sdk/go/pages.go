package hookyard

import (
	"encoding/json"
	"iter"
)

const eachPageSize = 100

// eachByCursor gives the items of all parts: what is stored meanwhile shifts nothing.
func eachByCursor[Part, Item any](
	fetch func(cursor string) (*Part, error), open func(*Part) ([]Item, *string),
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for next := Ptr("first"); next != nil; {
			part, err := fetch(*next)
			if err != nil {
				yield(*new(Item), err)
				return
			}
			items, following := open(part)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			next = following
		}
	}
}

// eachByPage gives the items of all pages. What is made or removed meanwhile shifts them: an item that shows up twice is given once.
func eachByPage[Page, Item any](
	fetch func(page int64) (*Page, error), open func(*Page) ([]Item, Pagination),
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		before := map[string]bool{}
		for page := int64(1); ; page++ {
			answer, err := fetch(page)
			if err != nil {
				yield(*new(Item), err)
				return
			}
			items, pagination := open(answer)
			now := map[string]bool{}
			for _, item := range items {
				id := identity(item)
				now[id] = true
				if !before[id] && !yield(item, nil) {
					return
				}
			}
			if len(items) == 0 || page*pagination.PageSize >= pagination.Total {
				return
			}
			before = now
		}
	}
}

// identity is the id of an item; of one that has none, all of it.
func identity(item any) string {
	text, _ := json.Marshal(item)
	named := struct{ ID string }{}
	if json.Unmarshal(text, &named) == nil && named.ID != "" {
		return named.ID
	}
	return string(text)
}
