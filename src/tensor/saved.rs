//! Serialization of models by serde, validated on reading.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Kruskal;
use crate::Dense;
use crate::algebra::Real;

#[derive(Deserialize)]
struct Saved<T> {
    weights: Vec<T>,
    factors: Vec<Vec<Vec<T>>>,
}

/// Serializes factors as lists of rows without allocating.
struct Factors<'a, T>(&'a [Dense<T>]);

impl<T: Real + Serialize> Serialize for Factors<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(Rows))
    }
}

struct Rows<'a, T>(&'a Dense<T>);

impl<T: Real + Serialize> Serialize for Rows<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((0..self.0.nrows()).map(|i| self.0.row(i)))
    }
}

impl<T: Real + Serialize> Serialize for Kruskal<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut saved = to.serialize_struct("Kruskal", 2)?;
        saved.serialize_field("weights", self.weights())?;
        saved.serialize_field("factors", &Factors(self.factors()))?;
        saved.end()
    }
}

impl<'de, T: Real + Deserialize<'de>> Deserialize<'de> for Kruskal<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let saved = Saved::<T>::deserialize(from)?;
        let rank = saved.weights.len();
        let dense = |rows: Vec<Vec<T>>| {
            if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != rank) {
                return Err(serde::de::Error::custom(format!(
                    "row {i} of a factor has {} columns, not {rank}",
                    row.len()
                )));
            }
            Dense::new(rows.len(), rank, rows.concat()).map_err(serde::de::Error::custom)
        };
        let factors = saved.factors.into_iter().map(dense).collect::<Result<_, D::Error>>()?;
        Self::new(saved.weights, factors).map_err(serde::de::Error::custom)
    }
}
